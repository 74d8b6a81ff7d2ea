import CMosquitto
import Glibc
import RepriseCore

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

extension MessageProperties {
  /// Copies the properties of a message that came.
  /// - Parameter list: The library's list; nil when there is none.
  init(reading list: OpaquePointer?) {
    self.init()
    var rest = list
    while let property = rest {
      take(property)
      rest = mosquitto_property_next(property)
    }
  }

  private mutating func take(_ property: OpaquePointer) {
    let id = mosquitto_property_identifier(property)
    switch mqtt5_property(rawValue: UInt32(clamping: id)) {
    case MQTT_PROP_PAYLOAD_FORMAT_INDICATOR:
      var value: UInt8 = 0
      if mosquitto_property_read_byte(property, id, &value, false) != nil { isText = value == 1 }
    case MQTT_PROP_MESSAGE_EXPIRY_INTERVAL:
      var value: UInt32 = 0
      if mosquitto_property_read_int32(property, id, &value, false) != nil {
        expiryInterval = value
      }
    case MQTT_PROP_CONTENT_TYPE: contentType = Self.text(property, id)
    case MQTT_PROP_RESPONSE_TOPIC: responseTopic = Self.text(property, id)
    case MQTT_PROP_CORRELATION_DATA:
      var value: UnsafeMutableRawPointer?
      var count: UInt16 = 0
      guard mosquitto_property_read_binary(property, id, &value, &count, false) != nil else {
        return
      }
      correlationData = [UInt8](UnsafeRawBufferPointer(start: value, count: Int(count)))
      Glibc.free(value)
    case MQTT_PROP_USER_PROPERTY:
      var name: UnsafeMutablePointer<CChar>?
      var value: UnsafeMutablePointer<CChar>?
      guard
        mosquitto_property_read_string_pair(property, id, &name, &value, false) != nil
      else { return }
      if let name, let value {
        userProperties.append(UserProperty(String(cString: name), String(cString: value)))
      }
      Glibc.free(name)
      Glibc.free(value)
    default: return
    }
  }

  private static func text(_ property: OpaquePointer, _ id: Int32) -> String? {
    var value: UnsafeMutablePointer<CChar>?
    guard mosquitto_property_read_string(property, id, &value, false) != nil, let value else {
      return nil
    }
    defer { Glibc.free(value) }
    return String(cString: value)
  }
}
