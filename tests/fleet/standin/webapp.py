"""A small WSGI application for gunicorn: a service that nobody wrote with knowngood in mind."""


def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello\n"]
