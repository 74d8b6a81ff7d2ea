internal import RepriseCore
internal import Wire

extension MQTTPacketView {
  /// Whether it is all there and breaks no rule of its format, so that its receiver has no reason but to take it.
  ///
  /// One that a recording has without its bytes, as they were hidden, had faults that are not to be seen any more.
  func isSound(_ context: EventContext) -> Bool {
    missing == 0 && faults.isEmpty && !context.isRebuilt
  }
}
