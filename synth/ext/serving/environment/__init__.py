"""A world as an environment over HTTP: sessions, their server and a client."""
