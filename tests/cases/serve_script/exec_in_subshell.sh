( exec server --sub )
exec server --main
