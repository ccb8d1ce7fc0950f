export A=1 B=2 C=3
env A=9 D="x y" server --one
env -u B -u NOPE server --two
env -i PATH="$PATH" C=$C server --three
exec env -u C E=5 server --four
