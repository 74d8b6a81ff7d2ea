"""A peer made of websocket-client, which has no server."""

import websocket

import options


def echo(connection, message):
    if isinstance(message, str):
        connection.send_text(message)
    else:
        connection.send_bytes(message)


given = options.of_websocket(__doc__)
websocket.WebSocketApp(given.url, on_message=echo).run_forever()
