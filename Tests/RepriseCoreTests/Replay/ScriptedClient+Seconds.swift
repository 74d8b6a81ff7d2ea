import RepriseCore
import TestSupport

extension ScriptedClient {
  /// A client that tells one event a second, and whose world is over then.
  static func everySecond(
    _ events: [ClientEvent],
    _ capabilities: Capabilities = [.messages, .retain, .will, .exactlyOnce, .push, .binary]
  ) -> ScriptedClient {
    let planned = events.enumerated().map { (Double($0.offset + 1), $0.element) }
    return playing(planned, capabilities)
  }

  /// A client that tells events at seconds of its world, which is over then.
  static func playing(
    _ events: [(Double, ClientEvent)], _ capabilities: Capabilities,
    responder: @escaping Responder = { _, _ in [] }
  ) -> ScriptedClient {
    ScriptedClient(
      capabilities: capabilities, start: SessionBuilder.time(0), time: .byItself,
      planned: events.map { (SessionBuilder.time($0.0), $0.1) }, end: .over, responder: responder)
  }
}
