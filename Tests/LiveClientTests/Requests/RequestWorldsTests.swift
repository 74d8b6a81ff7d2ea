import Capture
import DeviceSDK
import Foundation
import LiveHTTP
import RepriseCore
import Synchronization
import TestSupport
import Testing

/// One target of a request provider on a server of HTTP, on a recording of it, and on a folder of answers.
@Suite struct RequestWorldsTests {
  /// What the server is asked for.
  private enum API: RequestTarget {
    case account(name: String)
    case bind(token: String)
    case gone

    var service: String {
      switch self {
      case .account: "account/get"
      case .bind: "account/bind"
      case .gone: "gone"
      }
    }

    var method: RequestMethod { if case .account = self { .get } else { .post } }
    var parameters: JSONValue {
      switch self {
      case .account(let name): ["name": .string(name), "fields": ["id", "mood"]]
      case .bind(let token): ["iotToken": .string(token)]
      case .gone: [:]
      }
    }
  }

  private struct Account: Decodable, Sendable, Equatable {
    let id: Int
    let mood: String
  }

  /// Answers as the folder does.
  private static func server() throws -> ScriptedServer {
    try ScriptedServer { socket in
      let (line, body) = socket.readHTTPRequest()
      let text = String(decoding: body, as: UTF8.self)
      switch line {
      case "GET /v1/account/get?fields=%5B%22id%22%2C%22mood%22%5D&name=J%C3%BCrgen HTTP/1.1":
        socket.writeHTTPAnswer(Array(#"{"id":7,"mood":"well"}"#.utf8))
      case "POST /v1/account/bind HTTP/1.1" where text == #"{"iotToken":"hush-1"}"#:
        socket.writeHTTPAnswer(Array(#"{"error":{"code":5,"desc":"bound"}}"#.utf8))
      default: socket.writeHTTPAnswer([], status: "410 Gone")
      }
    }
  }

  private static func folder() throws -> Scratch {
    let scratch = Scratch()
    try scratch.write(
      #"""
      {"requests": [
        {"path": "account/get", "parameters": {"name": "Jürgen"}, "body": {"id": 7, "mood": "well"}},
        {"path": "account/bind", "body": {"error": {"code": 5, "desc": "bound"}}},
        {"path": "gone", "status": 410, "body": ""}
      ]}
      """#, to: "requests.json")
    return scratch
  }

  /// What a user of the provider sees.
  private static func run(
    on client: any DataClient, token: String = "hush-1"
  ) async throws -> [String] {
    let provider = RequestProvider<API>(client: client)
    var lines: [String] = []
    let account: Account = try await provider.request(.account(name: "Jürgen"))
    lines.append("\(account)")
    for target in [API.bind(token: token), .gone] {
      do {
        lines.append("\(try await provider.answer(to: target))")
      } catch let error as RequestError {
        lines.append("\(error.kind) \(error.serverCode ?? 0)")
      }
    }
    try await provider.close()
    return lines
  }

  @Test(.timeLimit(.minutes(5))) func areOne() async throws {
    let server = try Self.server()
    let url = "http://127.0.0.1:\(server.port)/v1"
    let live = try await Self.run(on: HTTPClient(url: url))
    #expect(live.count == 3 && live.first == #"Account(id: 7, mood: "well")"#)
    let folder = try Self.folder()
    #expect(try await Self.run(on: LocalFileClient(folder: folder.path)) == live)

    let recorder = try RecordingClient(HTTPClient(url: url), to: MemorySink(), url: url)
    #expect(try await Self.run(on: recorder) == live)
    try recorder.finish()
    let bytes = recorder.sink.bytes
    #expect(!String(decoding: bytes, as: UTF8.self).contains("hush"))
    let replay = try ReplayClient(EventList(recording: bytes).events)
    // The token is hidden in the recording, and so may be any.
    #expect(try await Self.run(on: replay, token: "hush-2") == live)
    try replay.finish()
  }

  /// What went over the wire, as a capture of it.
  private final class Tap: Sendable {
    private let state: Mutex<(capture: TCPCapture, open: Set<Int>, closed: Set<Int>)>

    init(port: UInt16) { state = Mutex((TCPCapture(serverPort: port), [], [])) }

    var bytes: [UInt8] { state.withLock { $0.capture.bytes } }

    func note(_ connection: Int, _ sender: Peer, _ bytes: [UInt8]) {
      state.withLock { state in
        if state.open.insert(connection).inserted { state.capture.open(connection) }
        if !bytes.isEmpty {
          state.capture.send(connection, sender, bytes)
        } else if state.closed.insert(connection).inserted {
          state.capture.close(connection, by: sender)
        }
      }
    }
  }

  @Test(.timeLimit(.minutes(5))) func aCaptureIsOneToo() async throws {
    let server = try Self.server()
    let tap = Tap(port: 80)
    let relay = try Relay(to: server.port) { tap.note($0, $1, $2) }
    let live = try await Self.run(on: HTTPClient(url: "http://127.0.0.1:\(relay.port)/v1"))
    #expect(live.count == 3)
    let scratch = Scratch()
    try scratch.write(tap.bytes, to: "a.pcap")
    let input = InputOptions(decode: [80: .http])
    let options = ReplayOptions(requestBase: "/v1")
    let replay = try ReplayClient(
      contentsOf: scratch.file("a.pcap"), input: input, options: options)
    #expect(try await Self.run(on: replay) == live)
    try replay.finish()

    let other = try ReplayClient(
      contentsOf: scratch.file("a.pcap"), input: input, options: options)
    let error = await #expect(throws: DataClientError.self) {
      try await Self.run(on: other, token: "hush-2")
    }
    #expect(error?.code == .diverged)
    #expect(other.divergence?.differences.map(\.place) == ["parameters.iotToken"])
  }

  /// A client that is sent to another place gets the answer of that place, live and replayed.
  @Test(.timeLimit(.minutes(5))) func aClientThatIsSentElsewhereGoesThere() async throws {
    let server = try ScriptedServer { socket in
      let (line, _) = socket.readHTTPRequest()
      guard line.contains("/old") else { return socket.writeHTTPAnswer(Array("new".utf8)) }
      // On a connection that is closed unsaid, the client's library may have asked in vain first.
      let head = "HTTP/1.1 302 Found\r\nLocation: /new\r\nConnection: close\r\nContent-Length: 3"
      socket.write(Array("\(head)\r\n\r\nold".utf8))
    }
    let tap = Tap(port: 80)
    let relay = try Relay(to: server.port) { tap.note($0, $1, $2) }
    func ask(_ client: any DataClient) async throws -> ClientEvent {
      let request = RequestMessage(path: "old", method: "GET")
      try await client.perform(ClientAction(ClientAction.ID(rawValue: 1), .send(request)))
      return try await client.next(before: nil)
    }
    let live = try await ask(HTTPClient(url: "http://127.0.0.1:\(relay.port)"))
    let new = ResponseMessage(body: Array("new".utf8))
    #expect(live == .response(ClientAction.ID(rawValue: 1), new))
    let scratch = Scratch()
    try scratch.write(tap.bytes, to: "a.pcap")
    let replay = try ReplayClient(
      contentsOf: scratch.file("a.pcap"), input: InputOptions(decode: [80: .http]))
    #expect(try await ask(replay) == live)
    try replay.finish()
  }
}
