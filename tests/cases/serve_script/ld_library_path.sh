#: caller LD_LIBRARY_PATH=/old
export LD_LIBRARY_PATH=/usr/local/cuda/lib64:${LD_LIBRARY_PATH:-}
export PYTHONPATH="/opt/x${PYTHONPATH:+:$PYTHONPATH}"
exec server
