import DeviceSDK

/// Whose link a client identifier names.
struct RecordedLinkName: Sendable, Hashable {
  let app: String
  let user: String
  let session: String
  let streamChannel: String?

  /// Reads `link/{app}/message/{user}/{session}` or `link/{app}/stream/{user}/{session}/{channel}`; nil when it is
  /// neither.
  init?(_ clientID: String) {
    let levels = clientID.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.count >= 5, levels[0] == "link",
      levels[2] == "message" && levels.count == 5 || levels[2] == "stream" && levels.count == 6,
      let app = LinkTopics.decode(levels[1]), let user = LinkTopics.decode(levels[3]),
      let session = LinkTopics.decode(levels[4])
    else { return nil }
    self.app = app
    self.user = user
    self.session = session
    guard levels.count == 6 else {
      streamChannel = nil
      return
    }
    guard let channel = LinkTopics.decode(levels[5]) else { return nil }
    streamChannel = channel
  }
}
