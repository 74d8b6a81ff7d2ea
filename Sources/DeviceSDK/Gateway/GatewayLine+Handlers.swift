public import RepriseCore

/// A line with handlers in place of `await`, as mobile gateways are known from older SDKs.
///
/// Each handler is called once, on the gateway's own task, and must return soon.
extension GatewayLine {
  /// Makes the sub-device the gateway's.
  /// - Parameter complete: Called when the cloud has answered.
  public func addTopo(_ complete: @escaping @Sendable (GatewayResponse) -> Void) {
    submit(.addTopology, complete)
  }

  /// Makes the sub-device the gateway's no longer.
  /// - Parameter complete: Called when the cloud has answered.
  public func deleteTopo(_ complete: @escaping @Sendable (GatewayResponse) -> Void) {
    submit(.deleteTopology, complete)
  }

  /// Brings the sub-device online.
  /// - Parameter complete: Called when the cloud has answered.
  public func online(_ complete: @escaping @Sendable (GatewayResponse) -> Void) {
    submit(.logIn, complete)
  }

  /// Takes the sub-device offline.
  /// - Parameter complete: Called when the cloud has answered.
  public func offline(_ complete: @escaping @Sendable (GatewayResponse) -> Void) {
    submit(.logOut, complete)
  }

  /// Sends bytes as they are.
  /// - Parameters:
  ///   - topic: The sub-device's full topic.
  ///   - data: The payload.
  ///   - qos: How hard it is tried; 2 is not supported.
  ///   - complete: Called when the receiver has them.
  public func uploadData(
    _ topic: String, data: [UInt8], qos: QoS = .atLeastOnce,
    complete: @escaping @Sendable (GatewayResponse) -> Void
  ) {
    gateway.uploadData(topic, data: data, qos: qos, complete: complete)
  }

  /// Asks for messages of the sub-device.
  /// - Parameters:
  ///   - topic: The full topic, or a topic filter.
  ///   - complete: Called when they are granted.
  public func subscribe(
    _ topic: String, complete: @escaping @Sendable (GatewayResponse) -> Void
  ) {
    gateway.submit({ () throws(GatewayError) in
      .subscribe(try Gateway.full(topic), for: subdevice)
    }) { complete(GatewayResponse($0)) }
  }

  /// Asks no longer for messages of the sub-device.
  /// - Parameters:
  ///   - topic: The full topic, or the topic filter, that was subscribed to.
  ///   - complete: Called when that is acknowledged.
  public func unsubscribe(
    _ topic: String, complete: @escaping @Sendable (GatewayResponse) -> Void
  ) {
    gateway.submit({ () throws(GatewayError) in
      .unsubscribe(try Gateway.full(topic), for: subdevice)
    }) { complete(GatewayResponse($0)) }
  }

  /// Adds a listener of the sub-device's messages, which the caller must keep alive.
  /// - Parameters:
  ///   - uiSafety: Whether it is called on the main actor, for which the newest 16,384 messages wait,
  ///     while older ones are dropped and counted in ``Gateway/droppedMessages``; otherwise on the
  ///     gateway's own task.
  ///   - listener: The listener; held weakly.
  public func addDownStreamListener(
    uiSafety: Bool = true, listener: any GatewayLineDownstreamListener
  ) {
    gateway.hub.addLineListener(listener, of: subdevice, onMain: uiSafety)
  }

  /// Removes a listener of the sub-device's messages.
  /// - Parameter listener: The listener.
  public func removeDownStreamListener(_ listener: any GatewayLineDownstreamListener) {
    gateway.hub.removeLineListener(listener, of: subdevice)
  }

  /// How many listeners of the sub-device's messages are alive.
  public var listenerCount: Int { gateway.hub.lineListenerCount(of: subdevice) }

  /// Returns the key of the sub-device's product.
  public func subDeviceProductKey() -> String { subdevice.productKey }

  /// Returns the sub-device's name in its product.
  public func subDeviceDeviceName() -> String { subdevice.deviceName }

  private func submit(
    _ kind: LineCall, _ complete: @escaping @Sendable (GatewayResponse) -> Void
  ) {
    gateway.submit({ .operate(kind, [subdevice], isBatch: false) }) {
      complete(GatewayResponse($0))
    }
  }
}
