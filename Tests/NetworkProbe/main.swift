import DeviceSDK
import Glibc
import LiveClient
import LiveHTTP
import RepriseCore

// What an application sees of the network, a line each. It is run where the test has made the network.
//
//     network-probe watch          "reachable" or "unreachable": the present, then each change
//     network-probe request URL    the cause and the code of a request that fails, over HTTP or WebSocket
//     network-probe connect URL    the cause of an MQTT connection that does not come to be
//     network-probe leave          what a thousand monitors leave behind, some of them read

struct Question: RequestTarget {
  let service = "ask"
  let parameters: JSONValue = [:]
}

let words = CommandLine.arguments
switch words.dropFirst().first {
case "watch" where words.count == 2:
  for await isReachable in try NetworkMonitor().changes {
    put(isReachable ? "reachable" : "unreachable")
  }
case "request" where words.count == 3 && words[2].hasPrefix("ws"):
  let client = try WebSocketClient(url: words[2])
  put("\(try await cause(of: client)) \(try await code(on: client))")
case "connect" where words.count == 3:
  put(
    words[2].hasPrefix("ws")
      ? try await cause(of: MQTTWebSocketClient(url: words[2]))
      : try await cause(of: MosquittoClient(url: words[2])))
case "request" where words.count == 3:
  let client = try HTTPClient(url: words[2])
  let request = RequestMessage(path: "ask", method: "GET")
  try await client.perform(ClientAction(.init(rawValue: 1), .send(request)))
  guard case .failed(_, .unanswered(let cause, _)) = try await client.next(before: nil) else {
    put("answered")
    exit(1)
  }
  put("\(cause) \(try await code(on: client))")
case "leave" where words.count == 2:
  _ = try await NetworkMonitor().changes.first { _ in true }
  let files = count("/proc/self/fd")
  let threads = count("/proc/self/task")
  for number in 0..<1_000 {
    let monitor = try NetworkMonitor()
    if number % 2 == 0 { _ = await monitor.changes.first { _ in true } }
    if number % 3 == 0 { monitor.stop() }
  }
  put("files \(leak(count("/proc/self/fd") - files))")
  put("threads \(leak(count("/proc/self/task") - threads))")
default:
  put("usage: network-probe watch|leave|request URL|connect URL")
  exit(2)
}

/// The cause of a connection that does not come to be.
func cause(of client: some DataClient) async throws -> String {
  try await client.perform(
    ClientAction(.init(rawValue: 1), .connect(ConnectOptions(clientID: "probe"))))
  guard case .closed(.unreached(_, let cause)) = try await client.next(before: nil) else {
    return "reached"
  }
  return cause.rawValue
}

/// The code of a request that nobody told of the network.
func code(on client: some DataClient) async throws -> String {
  var configuration = RequestConfiguration()
  configuration.reconnectLimit = 0
  let error: RequestError? = try await withRequests(
    on: client, configuration: configuration
  ) { connection in
    // Over WebSocket this fails, and the request says as well why.
    try? await connection.open()
    do {
      _ = try await connection.answer(to: Question())
      return nil
    } catch let error as RequestError {
      return error
    }
  }
  return error.map { "\($0.kind.rawValue)" } ?? "answered"
}

/// What is left of a thousand monitors.
///
/// Even what only each sixth of them leaves is more than a hundred; a few are the
/// thread that the pool of tasks began meanwhile, or one that has ended and that the system still lists.
func leak(_ count: Int) -> String { count < 100 ? "few" : "\(count)" }

/// How many entries a folder has.
func count(_ folder: String) -> Int {
  guard let entries = opendir(folder) else { exit(1) }
  defer { closedir(entries) }
  var count = 0
  while readdir(entries) != nil { count += 1 }
  return count
}

/// Writes a line: one write is all of it or nothing.
func put(_ line: String) {
  let bytes = [UInt8]("\(line)\n".utf8)
  guard write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { exit(1) }
}
