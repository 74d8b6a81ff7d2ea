public import Wire

extension PermessageDeflate {
  /// What it means for the frames of one side.
  /// - Parameter sender: The side.
  /// - Returns: What a receiver of its frames has to know.
  public func agreement(for sender: WebSocketRole) -> WebSocketReceiver.Agreement {
    .agreed(
      keepsContext: sender == .client ? !clientNoContextTakeover : !serverNoContextTakeover)
  }
}
