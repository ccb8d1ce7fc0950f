export NAME="modèle-日本" EMOJI=🚀
exec server --name "$NAME" --x é
