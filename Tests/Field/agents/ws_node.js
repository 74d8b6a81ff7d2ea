// A peer made of ws for Node: ws_node.js serve --port PORT, or ws_node.js connect URL.

'use strict';

const WebSocket = require('ws');

function echo(websocket) {
  // Without it, what the library can't take would end the program.
  websocket.on('error', () => {});
  websocket.on('message', (data, isBinary) => websocket.send(data, { binary: isBinary }));
}

const [role, ...words] = process.argv.slice(2);
if (role === 'serve') {
  new WebSocket.WebSocketServer({ host: '127.0.0.1', port: Number(words[1]) }).on('connection', echo);
} else {
  echo(new WebSocket(words[0]));
}
