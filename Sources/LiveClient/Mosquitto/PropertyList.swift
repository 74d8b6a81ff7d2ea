import CMosquitto
import Glibc
import RepriseCore
import Wire

/// A list of properties as the library wants it; whoever makes one frees it, or hands it over and releases it.
struct PropertyList {
  /// The first property; nil when there is none.
  private(set) var head: OpaquePointer?

  /// Makes the list of a message's properties.
  /// - Parameters:
  ///   - message: The message, checked.
  ///   - delay: How many seconds it waits behind the end of a connection, if it is a will; nil is none.
  /// - Throws: ``DataClientError`` when the library refuses one.
  init(_ message: Message, delay: UInt32? = nil) throws(DataClientError) {
    do throws(DataClientError) {
      if let delay {
        try check(
          mosquitto_property_add_int32(
            &head, Int32(MQTT_PROP_WILL_DELAY_INTERVAL.rawValue), delay))
      }
      if message.hasProperties { try add(message.properties) }
    } catch {
      free()
      throw error
    }
  }

  /// Gives the memory back.
  mutating func free() { mosquitto_property_free_all(&head) }

  /// Leaves the list to the library.
  mutating func release() { head = nil }

  private mutating func add(_ properties: MessageProperties) throws(DataClientError) {
    if properties.isText {
      try check(
        mosquitto_property_add_byte(&head, Int32(MQTT_PROP_PAYLOAD_FORMAT_INDICATOR.rawValue), 1))
    }
    if let seconds = properties.expiryInterval {
      try check(
        mosquitto_property_add_int32(
          &head, Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue), seconds))
    }
    if let topic = properties.responseTopic {
      try check(
        mosquitto_property_add_string(&head, Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue), topic))
    }
    if let data = properties.correlationData {
      try check(
        mosquitto_property_add_binary(
          &head, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), data, UInt16(clamping: data.count)))
    }
    for user in properties.userProperties {
      try check(
        mosquitto_property_add_string_pair(
          &head, Int32(MQTT_PROP_USER_PROPERTY.rawValue), user.name, user.value))
    }
    if let type = properties.contentType {
      try check(mosquitto_property_add_string(&head, Int32(MQTT_PROP_CONTENT_TYPE.rawValue), type))
    }
  }

  private func check(_ code: Int32) throws(DataClientError) {
    try Mosquitto.check(code, "properties")
  }
}

extension [MQTTProperty] {
  /// Copies the properties of a packet that came.
  /// - Parameter list: The library's list; nil when there is none.
  init(reading list: OpaquePointer?) {
    self.init()
    var rest = list
    while let property = rest {
      let number = mosquitto_property_identifier(property)
      if let id = UInt8(exactly: number).flatMap(MQTTPropertyID.init),
        let value = Self.value(of: property, number, id.kind)
      {
        append(MQTTProperty(id, value))
      }
      rest = mosquitto_property_next(property)
    }
  }

  private static func value(
    of property: OpaquePointer, _ id: Int32, _ kind: MQTTPropertyID.Kind
  ) -> MQTTProperty.Value? {
    switch kind {
    case .byte: return number(property, id, UInt8(0), mosquitto_property_read_byte)
    case .twoByteInteger: return number(property, id, UInt16(0), mosquitto_property_read_int16)
    case .fourByteInteger: return number(property, id, UInt32(0), mosquitto_property_read_int32)
    case .variableByteInteger:
      return number(property, id, UInt32(0), mosquitto_property_read_varint)
    case .string:
      var value: UnsafeMutablePointer<CChar>?
      guard mosquitto_property_read_string(property, id, &value, false) != nil else { return nil }
      defer { Glibc.free(value) }
      return value.map { .string(String(cString: $0)) }
    case .binary:
      var value: UnsafeMutableRawPointer?
      var count: UInt16 = 0
      guard mosquitto_property_read_binary(property, id, &value, &count, false) != nil else {
        return nil
      }
      defer { Glibc.free(value) }
      return .binary([UInt8](UnsafeRawBufferPointer(start: value, count: Int(count))))
    case .stringPair:
      var name: UnsafeMutablePointer<CChar>?
      var value: UnsafeMutablePointer<CChar>?
      guard
        mosquitto_property_read_string_pair(property, id, &name, &value, false) != nil
      else { return nil }
      defer {
        Glibc.free(name)
        Glibc.free(value)
      }
      guard let name, let value else { return nil }
      return .pair(String(cString: name), String(cString: value))
    }
  }

  private static func number<Number: FixedWidthInteger>(
    _ property: OpaquePointer, _ id: Int32, _ start: Number,
    _ read: (OpaquePointer?, Int32, UnsafeMutablePointer<Number>?, Bool) -> OpaquePointer?
  ) -> MQTTProperty.Value? {
    var value = start
    return read(property, id, &value, false).map { _ in .integer(Int(value)) }
  }
}
