// One request after another over a WebSocket, each sent when the one before it is answered; and the server for it.

import Glibc
import LiveClient
import RepriseCore

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "serve" where arguments.count == 2:
  try await withWebSocketServer { server in
    print(server.url)
    fflush(nil)
    await server.serve { connection in
      for await event in connection.events {
        if case .text(let text) = event { try await connection.send(text) }
      }
    }
  }
case "ask" where arguments.count == 4:
  guard let count = Int(arguments[3]) else { exit(2) }
  try await ask(arguments[2], count)
default:
  print("roundtrips serve | roundtrips ask URL COUNT")
  exit(2)
}

/// Prints how many seconds so many requests took.
func ask(_ url: String, _ count: Int) async throws {
  let client = try WebSocketClient(url: url, options: WebSocketOptions(offersDeflate: false))
  let action = ClientAction.ID(rawValue: 1)
  try await client.perform(ClientAction(action, .connect(ConnectOptions())))
  guard case .connected = try await client.next(before: nil) else { exit(1) }
  let clock = ContinuousClock()
  var start = clock.now
  for number in -1_000..<count {
    // The first thousand only get everything going.
    if number == 0 { start = clock.now }
    let request =
      "{\"id\":\(number),\"service\":\"analysis\",\"text\":\"a request of about eighty bytes\"}"
    try await client.perform(ClientAction(action, .sendText(request)))
    guard try await client.next(before: nil) == .text(request) else { exit(1) }
  }
  print((clock.now - start) / .seconds(1))
  try await client.perform(ClientAction(action, .disconnect))
}
