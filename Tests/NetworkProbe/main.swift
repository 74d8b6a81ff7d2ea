import DeviceSDK
import Glibc
import LiveClient
import LiveHTTP
import RepriseCore

// What an application sees of the network, a line each. It is run where the test has made the network.
//
//     network-probe watch          "reachable" or "unreachable": the present, then each change
//     network-probe request URL    the cause and the code of a request that fails
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
case "request" where words.count == 3:
  let client = try HTTPClient(url: words[2])
  let request = RequestMessage(path: "ask", method: "GET")
  try await client.perform(ClientAction(.init(rawValue: 1), .send(request)))
  guard case .failed(_, .unanswered(let cause, _)) = try await client.next(before: nil) else {
    put("answered")
    exit(1)
  }
  let error: RequestError? = try await withRequests(on: client) { connection in
    try await connection.open()
    do {
      _ = try await connection.answer(to: Question())
      return nil
    } catch let error as RequestError {
      return error
    }
  }
  put("\(cause) \(error.map { "\($0.kind.rawValue)" } ?? "answered")")
case "leave" where words.count == 2:
  _ = try await NetworkMonitor().changes.first { _ in true }
  let files = count("/proc/self/fd")
  let threads = count("/proc/self/task")
  for number in 0..<1_000 {
    let monitor = try NetworkMonitor()
    if number % 2 == 0 { _ = await monitor.changes.first { _ in true } }
    if number % 3 == 0 { monitor.stop() }
  }
  put("files \(count("/proc/self/fd") - files)")
  put("threads \(count("/proc/self/task") - threads)")
default:
  put("usage: network-probe watch|leave|request URL")
  exit(2)
}

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
