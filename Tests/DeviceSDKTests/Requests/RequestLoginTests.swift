import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

/// Logins that a connection makes when its server wants them.
@Suite struct RequestLoginTests {
  @Test func logsInWhenTheServerWantsIt() async throws {
    let client = ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: return [.connected(.init())]
      case .disconnect: return [.closed(.byUser)]
      case .sendText(let text):
        guard let value = JSONValue(parsing: Array(text.utf8)), let id = value["uniqueId"]?.integer
        else { return [] }
        // The first request is refused; the login and what is sent again are answered.
        let isRefused = id == 2
        let rest = isRefused ? #""error":{"code":4,"desc":"login"}"# : #""content":{}"#
        return [.text(#"{"uniqueId":\#(id),"service":"s",\#(rest)}"#)]
      default: return []
      }
    }
    try await withRequests(on: client, login: { SampleAPI.analyze(question: "login") }) {
      connection in
      try await connection.open()
      _ = try await connection.answer(to: SampleAPI.bare)
    }
    let services = client.sentTexts.compactMap {
      JSONValue(parsing: Array($0.utf8))?["service"]?.text
    }
    #expect(services == ["system/heart-beat", "bare", "test-services/nlu/analyze", "bare"])
  }

  /// A server that wants a login before all else, which it answers with a content.
  private func strictServer(_ content: String) -> ScriptedClient {
    let isLoggedIn = Atomic(false)
    return ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: return [.connected(.init())]
      case .disconnect: return [.closed(.byUser)]
      case .sendText(let text):
        guard let value = JSONValue(parsing: Array(text.utf8)), let id = value["uniqueId"]?.integer,
          let service = value["service"]?.text, value["content"] != nil
        else { return [] }
        if service != "bare" { isLoggedIn.store(true, ordering: .relaxed) }
        let isWelcome = isLoggedIn.load(ordering: .relaxed)
        let rest = isWelcome ? #""content":\#(content)"# : #""error":{"code":4}"#
        return [.text(#"{"uniqueId":\#(id),"service":"\#(service)",\#(rest)}"#)]
      default: return []
      }
    }
  }

  @Test func showsPluginsTheLoginsOfTheConnection() async throws {
    let stages = Stages()
    let provider = RequestProvider<SampleAPI>(
      client: strictServer(#"{"ret_code":"0000"}"#), plugins: [stages],
      login: { SampleAPI.analyze(question: "login") })
    _ = try await provider.answer(to: .bare)
    try await provider.close()
    let end = ["willReceive ok", "process", "didReceive ok"]
    #expect(
      stages.seen == ["willSend bare", "willSend test-services/nlu/analyze"] + end + end)
  }

  @Test func takesALoginThatTheServiceRefusesForNone() async throws {
    let client = strictServer(#"{"ret_code":"1001","ret_msg":"wrong"}"#)
    let provider = RequestProvider<SampleAPI>(
      client: client, plugins: [BusinessErrors()],
      login: { SampleAPI.analyze(question: "login") })
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error == RequestError(.business, "wrong", businessCode: "1001"))
    // A heartbeat, the request and the login; nothing is sent again.
    #expect(client.sentTexts.count == 3)
    try await provider.close()
  }
}
