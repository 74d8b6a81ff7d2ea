public import RepriseCore

/// The gateway with handlers in place of `await`, as mobile gateways are known from older SDKs.
///
/// Each handler is called once, on the gateway's own task, and must return soon.
extension Gateway {
  /// Connects; a second connection is never made.
  /// - Parameter listener: Hears of the state, on the main actor; held weakly.
  public func startConnect(listener: (any GatewayConnectListener)? = nil) {
    if let listener { addConnectListener(listener) }
    driver.submit(.start) { _ in }
  }

  /// Sets a line up for the sub-device behind a connection.
  /// - Parameters:
  ///   - connection: The application's way to the sub-device.
  ///   - complete: Called with the line or the error.
  public func setupGatewayLine(
    _ connection: any SubdeviceConnection,
    complete: @escaping @Sendable (GatewayLine?, GatewayError?) -> Void
  ) {
    submit({ .setUp(hub.opener.add(connection)) }) { result in
      switch result {
      case .success(.line(let subdevice)):
        complete(GatewayLine(gateway: self, subdevice: subdevice), nil)
      case .success: complete(nil, Self.unexpected)
      case .failure(let error): complete(nil, error)
      }
    }
  }

  /// Returns the line of a sub-device; nil when none was set up.
  /// - Parameters:
  ///   - productKey: The product's key.
  ///   - deviceName: The device's name in the product.
  /// - Returns: The line.
  public func getGatewayLine(productKey: String, deviceName: String) -> GatewayLine? {
    (try? Subdevice(productKey: productKey, deviceName: deviceName)).flatMap { line(of: $0) }
  }

  /// Sends a request.
  /// - Parameters:
  ///   - topic: The full topic.
  ///   - method: The method; nil takes the one that belongs to the topic.
  ///   - params: The parameters.
  ///   - respHandler: Called with the reply or the error.
  public func invokeWithTopic(
    _ topic: String, method: String?, params: JSONValue,
    respHandler: @escaping @Sendable (GatewayResponse) -> Void
  ) {
    submit({ () throws(GatewayError) in
      .invoke(.init(try Self.full(topic), method: method, params: params))
    }) { respHandler(GatewayResponse($0)) }
  }

  /// Sends bytes as they are.
  /// - Parameters:
  ///   - topic: The full topic.
  ///   - data: The payload.
  ///   - qos: How hard it is tried; 2 is not supported.
  ///   - complete: Called when the receiver has them.
  public func uploadData(
    _ topic: String, data: [UInt8], qos: QoS = .atLeastOnce,
    complete: @escaping @Sendable (GatewayResponse) -> Void
  ) {
    submit({ () throws(GatewayError) in .upload(try Self.full(topic), data, qos) }) {
      complete(GatewayResponse($0))
    }
  }

  /// Sends parameters in an envelope.
  /// - Parameters:
  ///   - topic: The full topic.
  ///   - params: The parameters.
  ///   - complete: Called when the receiver has them.
  public func publish(
    _ topic: String, params: JSONValue, complete: @escaping @Sendable (GatewayError?) -> Void
  ) {
    submit({ () throws(GatewayError) in .publish(try Self.full(topic), method: nil, params) }) {
      complete(GatewayResponse($0).error)
    }
  }

  /// Asks for messages.
  /// - Parameters:
  ///   - topic: The full topic, or a topic filter.
  ///   - complete: Called when they are granted.
  public func subscribe(
    _ topic: String, complete: @escaping @Sendable (GatewayError?) -> Void
  ) {
    submit({ () throws(GatewayError) in .subscribe(try Self.full(topic), for: nil) }) {
      complete(GatewayResponse($0).error)
    }
  }

  /// Asks no longer for messages.
  /// - Parameters:
  ///   - topic: The full topic, or the topic filter, that was subscribed to.
  ///   - complete: Called when that is acknowledged.
  public func unsubscribe(
    _ topic: String, complete: @escaping @Sendable (GatewayError?) -> Void
  ) {
    submit({ () throws(GatewayError) in .unsubscribe(try Self.full(topic), for: nil) }) {
      complete(GatewayResponse($0).error)
    }
  }

  /// Has the cloud register sub-devices.
  /// - Parameters:
  ///   - registrations: The sub-devices.
  ///   - complete: Called with what the cloud made of them, or the error.
  public func dynamicRegisterSubDevices(
    _ registrations: [SubdeviceRegistration],
    complete: @escaping @Sendable ([RegisteredSubdevice]?, GatewayError?) -> Void
  ) {
    submit({ .register(registrations) }) { result in
      switch result {
      case .success(.registered(let registered)): complete(registered, nil)
      case .success: complete(nil, Self.unexpected)
      case .failure(let error): complete(nil, error)
      }
    }
  }

  /// Has the cloud forget sub-devices that were registered.
  /// - Parameters:
  ///   - subdevices: The sub-devices.
  ///   - complete: Called when it has.
  public func dynamicUnregisterSubDevices(
    _ subdevices: [Subdevice], complete: @escaping @Sendable (GatewayError?) -> Void
  ) {
    submit({ .unregister(subdevices) }) { complete(GatewayResponse($0).error) }
  }

  // MARK: Listeners

  /// Adds a listener of messages, which the caller must keep alive; called on the gateway's own task.
  /// - Parameter listener: The listener; held weakly.
  public func addDownstreamListener(_ listener: any GatewayDownstreamListener) {
    hub.downstreamListeners.add(listener, onMain: false) { [weak listener] in listener }
  }

  /// Removes a listener of messages.
  /// - Parameter listener: The listener.
  public func removeDownstreamListener(_ listener: any GatewayDownstreamListener) {
    hub.downstreamListeners.remove(listener)
  }

  /// Adds a listener of the connection's state, which the caller must keep alive.
  /// - Parameters:
  ///   - listener: The listener; held weakly.
  ///   - uiSafety: Whether it is called on the main actor; otherwise on the gateway's own task.
  public func addConnectListener(_ listener: any GatewayConnectListener, uiSafety: Bool = true) {
    hub.connectListeners.add(listener, onMain: uiSafety) { [weak listener] in listener }
  }

  /// Removes a listener of the connection's state.
  /// - Parameter listener: The listener.
  public func removeConnectListener(_ listener: any GatewayConnectListener) {
    hub.connectListeners.remove(listener)
  }

  /// Returns the key of the gateway's product.
  public func getProductKey() -> String { device.productKey }

  /// Returns the gateway's name in its product.
  public func getDeviceName() -> String { device.deviceName }

  // MARK: Calls

  func submit(
    _ call: () throws(GatewayError) -> GatewayStateMachine.Call,
    _ complete: @escaping @Sendable (Result<GatewayStateMachine.Value, GatewayError>) -> Void
  ) {
    do {
      driver.submit(try call()) { result in
        complete(result.mapError { GatewayStateMachine.error(for: $0) })
      }
    } catch {
      complete(.failure(error))
    }
  }
}
