import RepriseCore

/// What is wrong with an action is said before it is handed over.
extension MosquittoClient {
  /// Checks an action by the rules of MQTT, and of libmosquitto.
  /// - Throws: `DataClientError` that says what can't be sent.
  func check(_ kind: ClientAction.Kind) throws(DataClientError) {
    guard case .connect(var options) = kind else { return try actionCheck.check(kind) }
    guard options.keepAlive == 0 || options.keepAlive >= 5 else {
      throw DataClientError(
        .invalidAction, "libmosquitto takes a keep-alive time of 0, or of 5 seconds and more")
    }
    (options.username, options.password) = options.credentials(or: setup.url)
    try actionCheck.check(.connect(options))
    guard options.password?.contains(0) != true else {
      throw DataClientError(
        .invalidAction, "the password has a byte 0, which libmosquitto can't send")
    }
  }
}
