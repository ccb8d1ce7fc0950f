export PATH=/opt/bin:$PATH
export CUDA_HOME=/usr/local/cuda
exec server --tp 2
