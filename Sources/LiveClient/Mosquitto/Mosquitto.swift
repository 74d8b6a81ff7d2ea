import CMosquitto
import Glibc
import RepriseCore

/// The library itself: starting it, its return codes, and its rules for texts.
enum Mosquitto {
  /// The largest remaining length of a packet (MQTT 3.1.1 section 2.2.3).
  static let largestPacket = 268_435_455

  /// Whether the library is started; it stays so, since it counts its users without a lock.
  static let isStarted = mosquitto_lib_init() == Int32(MOSQ_ERR_SUCCESS.rawValue)

  /// Makes an error of a return code that is not success.
  /// - Parameters:
  ///   - code: What a function of the library returned, just now.
  ///   - purpose: What it was called for, for the message.
  /// - Throws: ``DataClientError`` with the library's text and code.
  static func check(_ code: Int32, _ purpose: String) throws(DataClientError) {
    let number = errno
    guard code != Int32(MOSQ_ERR_SUCCESS.rawValue) else { return }
    throw DataClientError(
      .transport, "\(purpose): \(text(of: code, errno: number)) (libmosquitto \(code))")
  }

  /// What a return code means, for people.
  /// - Parameters:
  ///   - code: The code.
  ///   - number: The system's error number, or the resolver's, right after the call.
  /// - Returns: The text, without a full stop.
  static func text(of code: Int32, errno number: Int32) -> String {
    switch code {
    case Int32(MOSQ_ERR_ERRNO.rawValue): return systemText(number)
    case Int32(MOSQ_ERR_EAI.rawValue): return String(cString: gai_strerror(number))
    case Int32(MOSQ_ERR_CONN_LOST.rawValue):
      return isEndInOrder(code, errno: number)
        ? "the server closed the connection" : "the connection was reset"
    case Int32(MOSQ_ERR_KEEPALIVE.rawValue):
      return "the server did not answer within the keep-alive time"
    case Int32(MOSQ_ERR_PROTOCOL.rawValue): return "the server does not keep to the protocol"
    default:
      var text = String(cString: mosquitto_strerror(code))
      if text.last == "." { text.removeLast() }
      return text
    }
  }

  /// Tells whether the server closed its side of the connection (FIN); the library has one code for that and for
  /// a connection that was reset.
  /// - Parameters:
  ///   - code: The library's code.
  ///   - number: The system's error number, right after the call.
  /// - Returns: Whether the connection ended in good order.
  static func isEndInOrder(_ code: Int32, errno number: Int32) -> Bool {
    code == Int32(MOSQ_ERR_CONN_LOST.rawValue) && number != ECONNRESET
  }

  /// Tells whether there was no way to the server, or to whoever knows its name: nobody answered, not even by a
  /// refusal.
  /// - Parameters:
  ///   - code: The library's code.
  ///   - number: The system's error number, right after the call.
  /// - Returns: Whether that is known.
  static func metNobody(_ code: Int32, errno number: Int32) -> Bool {
    switch code {
    case Int32(MOSQ_ERR_EAI.rawValue): true
    case Int32(MOSQ_ERR_ERRNO.rawValue):
      [ENETUNREACH, ENETDOWN, EHOSTUNREACH, EADDRNOTAVAIL].contains(number)
    default: false
    }
  }

  /// What can be done about a connection that could not be opened, or was lost.
  /// - Parameters:
  ///   - code: The library's code.
  ///   - number: The system's error number, right after the call.
  ///   - isOpen: Whether the server had accepted the connection.
  /// - Returns: The advice, without a full stop.
  static func remedy(for code: Int32, errno number: Int32, isOpen: Bool) -> String {
    switch code {
    case Int32(MOSQ_ERR_EAI.rawValue):
      return "correct the host's name, or see whether the name server can be reached"
    case _ where isOpen: return "connect again"
    case Int32(MOSQ_ERR_ERRNO.rawValue) where number == ECONNREFUSED:
      return "start the server, or correct host and port"
    case Int32(MOSQ_ERR_ERRNO.rawValue):
      return "see whether host and port are right and can be reached from here"
    default:
      return "see whether the server speaks this version of MQTT on this port, and TLS or not"
    }
  }

  /// Checks a text that goes into a packet.
  /// - Parameters:
  ///   - text: The text.
  ///   - name: What it is, for the message.
  /// - Throws: ``DataClientError`` when it is too long, or has characters that MQTT does not take.
  static func check(text: String, _ name: String) throws(DataClientError) {
    let count = text.utf8.count
    guard count <= Int(UInt16.max) else {
      throw DataClientError(.invalidAction, "\(name) has \(count) bytes; 65535 are allowed")
    }
    let isValid = text.withCString { mosquitto_validate_utf8($0, Int32(count)) == 0 }
    guard isValid || count == 0 else {
      throw DataClientError(.invalidAction, "\(name) has characters that MQTT does not take")
    }
  }

  /// Checks the topic of a message.
  /// - Parameters:
  ///   - topic: The topic.
  ///   - name: What it is, for the message.
  /// - Throws: ``DataClientError`` when it is empty or has a wildcard.
  static func check(topic: String, _ name: String) throws(DataClientError) {
    try check(text: topic, name)
    guard !topic.isEmpty else { throw DataClientError(.invalidAction, "\(name) is empty") }
    guard topic.withCString({ mosquitto_pub_topic_check($0) }) == 0 else {
      throw DataClientError(.invalidAction, "\(name) has a wildcard: \(topic)")
    }
  }

  /// Checks a topic filter.
  /// - Parameter filter: The filter.
  /// - Throws: ``DataClientError`` when it is empty, or a wildcard stands where it must not.
  static func check(filter: String) throws(DataClientError) {
    try check(text: filter, "the topic filter")
    // The library takes the empty filter, MQTT does not (MQTT-4.7.3-1).
    guard !filter.isEmpty else {
      throw DataClientError(.invalidAction, "the topic filter is empty")
    }
    guard filter.withCString({ mosquitto_sub_topic_check($0) }) == 0 else {
      throw DataClientError(
        .invalidAction,
        "a wildcard of the topic filter is not a whole level, or # is not the last: \(filter)")
    }
  }
}
