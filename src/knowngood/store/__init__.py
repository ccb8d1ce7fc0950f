"""The only local files of ours: where the project is, what git says of it, and what we keep."""
