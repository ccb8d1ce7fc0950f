P=/models/deepseek-ai/DeepSeek-V4.Q4.gguf
export NAME=${P##*/} DIR=${P%/*} BASE=${P##*/} EXT=${P##*.} STEM=${P%%.*} NO=${P#/models/}
export R=${P//\//_} S=${P/models/data} T=${P/#\/models/X} U=${P/%gguf/bin} V=${P//[0-9]/}
export L=${#P} LOW=${NAME,,} UP=${NAME^^} FIRST=${NAME^} SUB=${P:1:6} TAIL=${P: -4} MID=${P:8}
server --name "${NAME%.gguf}"
