import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

/// The connection that a provider owns, or shares.
@Suite struct ProviderConnectionTests {
  @Test func staysClosedWhenItWasClosedBeforeItsFirstRequest() async throws {
    let client = ScriptedClient.answering(ScriptedClient.goodAnswer)
    let provider = RequestProvider<SampleAPI>(client: client)
    try await provider.close()
    try await provider.close()
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error.kind == .serverConnection)
    let result = await withCheckedContinuation { continuation in
      provider.request(.bare) { continuation.resume(returning: $0) }
    }
    #expect(throws: RequestError(.serverConnection, "the connection was closed")) {
      try result.get()
    }
    #expect(client.performed.isEmpty)
  }

  @Test func saysThatAConnectionIsOverAndNotThatSomebodyTookTheRequestBack() async throws {
    let connection = try await withRequests(on: ScriptedClient.answering(ScriptedClient.goodAnswer))
    { $0 }
    let error = try await #require(throws: RequestError.self) {
      try await connection.answer(to: SampleAPI.bare)
    }
    #expect(error.kind == .serverConnection)
    let provider = RequestProvider<SampleAPI>(connection)
    let result = await withCheckedContinuation { continuation in
      provider.request(.bare) { continuation.resume(returning: $0) }
    }
    let other = #expect(throws: RequestError.self) { try result.get() }
    #expect(other?.kind == .serverConnection)
  }

  @Test func triesAnewWithTheNextRequestWhenItGaveUp() async throws {
    let tries = Atomic(0)
    let client = ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect:
        let isFirst = tries.wrappingAdd(1, ordering: .relaxed).newValue == 1
        return isFirst ? [.closed(.lost("test"))] : [.connected(.init())]
      case .disconnect: return [.closed(.byUser)]
      case .sendText: return [.text(#"{"uniqueId":1,"service":"bare","content":{}}"#)]
      default: return []
      }
    }
    var configuration = RequestConfiguration()
    configuration.reconnectLimit = 0
    configuration.heartbeatInterval = nil
    let provider = RequestProvider<SampleAPI>(client: client, configuration: configuration)
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error.kind == .serverConnection && provider.connection?.state == .gaveUp)
    #expect(try await provider.answer(to: .bare).content == [:])
    try await provider.close()
  }
}
