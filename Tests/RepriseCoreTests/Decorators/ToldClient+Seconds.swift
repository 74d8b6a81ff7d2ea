import RepriseCore
import TestSupport

extension ToldClient {
  /// A client that tells one event a second.
  static func everySecond(
    _ events: [ClientEvent],
    _ capabilities: Capabilities = [.messages, .retain, .will, .exactlyOnce, .push, .binary]
  ) -> ToldClient {
    ToldClient(events, capabilities, start: SessionBuilder.time(0), pace: .seconds(1))
  }
}
