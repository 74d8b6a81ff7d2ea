import CMosquitto
import Glibc
import RepriseCore

extension MosquittoLink {
  /// Hands an action to the library; a failure ends the connection.
  /// - Parameter action: The action.
  /// - Returns: About how many bytes it will take on the wire.
  func perform(_ action: ActionQueue.Action) -> Int {
    do throws(DataClientError) {
      switch action {
      case .publish(let id, let message):
        try publish(id, message)
        return message.weight
      case .subscribe(let id, let subscriptions):
        try subscribe(id, subscriptions)
        return subscriptions.reduce(0) { $0 + $1.filter.utf8.count }
      case .unsubscribe(let id, let filters):
        try unsubscribe(id, filters)
        return filters.reduce(0) { $0 + $1.utf8.count }
      case .disconnect:
        disconnect()
        return 0
      }
    } catch {
      drop(.lost(error.message))
      return 0
    }
  }

  private func publish(_ id: ClientAction.ID, _ message: Message) throws(DataClientError) {
    var mid: Int32 = 0
    var properties = try PropertyList(message)
    defer { properties.free() }
    let code = message.payload.withUnsafeBytes { payload in
      mosquitto_publish_v5(
        handle, &mid, message.topic, Int32(clamping: payload.count),
        payload.isEmpty ? nil : payload.baseAddress, Int32(message.qos.rawValue),
        message.isRetained, properties.head)
    }
    var load = Load()
    load.add(message)
    guard code == 0 else {
      released.add(load)
      try Mosquitto.check(code, "publish")
      return
    }
    publishes[mid] = (id, load, message.qos)
    if message.qos > .atMostOnce { inFlight += 1 }
  }

  /// Subscribes, with one SUBSCRIBE for each run of filters of one QoS and the same options: the library takes no more.
  private func subscribe(
    _ id: ClientAction.ID, _ subscriptions: [Subscription]
  ) throws(DataClientError) {
    grants[id] = ([QoS?](repeating: nil, count: subscriptions.count), subscriptions.count)
    var rest = subscriptions[...]
    while let first = rest.first {
      let run = rest.prefix { $0.qos == first.qos && $0.options == first.options }
      rest = rest[run.endIndex...]
      var mid: Int32 = 0
      let code = Self.withTexts(run.map(\.filter)) { filters in
        mosquitto_subscribe_multiple(
          handle, &mid, Int32(clamping: run.count), filters, Int32(first.qos.rawValue),
          Int32(first.options.bits), nil)
      }
      try Mosquitto.check(code, "subscribe")
      subscribes[mid] = (id, run.indices)
    }
  }

  private func unsubscribe(_ id: ClientAction.ID, _ filters: [String]) throws(DataClientError) {
    var mid: Int32 = 0
    let code = Self.withTexts(filters) { texts in
      mosquitto_unsubscribe_multiple(handle, &mid, Int32(clamping: filters.count), texts, nil)
    }
    try Mosquitto.check(code, "unsubscribe")
    unsubscribes[mid] = id
  }

  /// Lends texts to C for the time of a call.
  private static func withTexts(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Int32
  ) -> Int32 {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    guard copies.allSatisfy({ $0 != nil }) else { return Int32(MOSQ_ERR_NOMEM.rawValue) }
    return copies.withUnsafeBufferPointer { body($0.baseAddress) }
  }
}
