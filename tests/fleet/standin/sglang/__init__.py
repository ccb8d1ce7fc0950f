"""A stand-in for SGLang on test nodes: its process tree, flags and endpoints, without a model or a GPU."""
