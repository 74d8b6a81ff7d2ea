import CMosquitto
import CTLS
import RepriseCore

extension MosquittoLink {
  /// Sets user name and password, those of the URL when the options have none.
  func setCredentials() throws(DataClientError) {
    let (username, password) = options.credentials(or: setup.url)
    let terminated = password.map { $0.map(CChar.init(bitPattern:)) + [0] }
    try Mosquitto.check(
      mosquitto_username_pw_set(handle, username, terminated), "user name and password")
  }

  /// Sets the will, or takes back that of an earlier connection.
  func setWill() throws(DataClientError) {
    guard let will = options.will else {
      try Mosquitto.check(mosquitto_will_clear(handle), "will")
      return
    }
    var properties = try PropertyList(will, delay: options.properties.willDelayInterval)
    let code = will.payload.withUnsafeBytes { payload in
      mosquitto_will_set_v5(
        handle, will.topic, Int32(clamping: payload.count),
        payload.isEmpty ? nil : payload.baseAddress, Int32(will.qos.rawValue), will.isRetained,
        properties.head)
    }
    // The library keeps the list of a will that it takes.
    if code == 0 { properties.release() } else { properties.free() }
    try Mosquitto.check(code, "will")
  }

  /// Makes the properties of a CONNECT; 3.1.1 has none.
  /// - Parameter properties: The list to add them to.
  /// - Returns: The library's code when that fails.
  func connectProperties(_ properties: inout OpaquePointer?) -> Int32? {
    guard setup.version == .v5_0 else { return nil }
    // The library takes 20 unanswered messages at a time if it is not told, and gives up at one more, which some
    // brokers send to a session that is taken up: mosquitto 2.0.11 does. So no limit is told where none is wanted.
    var code = mosquitto_property_add_int16(
      &properties, Int32(MQTT_PROP_RECEIVE_MAXIMUM.rawValue),
      options.properties.receiveMaximum ?? .max)
    if code == 0, let size = options.properties.maximumPacketSize {
      code = mosquitto_property_add_int32(
        &properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), size)
    }
    if code == 0, let seconds = options.sessionExpiry {
      code = mosquitto_property_add_int32(
        &properties, Int32(MQTT_PROP_SESSION_EXPIRY_INTERVAL.rawValue), seconds)
    }
    for user in options.properties.userProperties where code == 0 {
      code = mosquitto_property_add_string_pair(
        &properties, Int32(MQTT_PROP_USER_PROPERTY.rawValue), user.name, user.value)
    }
    return code == 0 ? nil : code
  }

  /// The suites of 1.2 in which the pre-shared key alone says who the server is.
  private static let sharedSuites = "PSK:!kRSAPSK:!eNULL"

  /// Has a server refused that shows a certificate, which nobody could trust, instead of using the pre-shared key.
  ///
  /// The library verifies nothing then, and in TLS 1.3 the choice is the server's.
  func refuseCertificates() {
    guard setup.tls.preSharedKey != nil, let connection = mosquitto_ssl_get(handle) else { return }
    let session = OpaquePointer(connection)
    SSL_set_verify(session, SSL_VERIFY_PEER) { _, _ in 0 }
    // The call that connects may have come as far already; nothing of MQTT has gone out yet.
    guard SSL_get0_peer_certificate(session) != nil else { return }
    drop(.lost("\(place): TLS: \(Self.certificateInstead)"))
  }

  /// Sets what TLS trusts and shows.
  func setTLS() throws(DataClientError) {
    let tls = setup.tls
    if let shared = tls.preSharedKey {
      try Mosquitto.check(
        mosquitto_tls_psk_set(handle, shared.digits, shared.identity, Self.sharedSuites),
        "pre-shared key")
      return
    }
    if tls.authorityFile == nil, tls.authorityDirectory == nil {
      try Mosquitto.check(mosquitto_int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, 1), "TLS")
    } else {
      // Without this, OpenSSL asks at the terminal for the password of a key that has one.
      let noPassword:
        @convention(c) (
          UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?
        ) -> Int32 = { _, _, _, _ in 0 }
      try Mosquitto.check(
        mosquitto_tls_set(
          handle, tls.authorityFile, tls.authorityDirectory, tls.certificateFile, tls.keyFile,
          noPassword), "TLS files")
    }
    try Mosquitto.check(
      mosquitto_tls_opts_set(handle, tls.verifiesCertificate ? 1 : 0, nil, nil), "TLS verification")
    try Mosquitto.check(
      mosquitto_tls_insecure_set(handle, !tls.verifiesHostName), "TLS host name verification")
  }
}

extension ConnectOptions {
  /// User name and password, those of a URL when there are none here.
  func credentials(or url: BrokerURL) -> (username: String?, password: [UInt8]?) {
    username == nil && password == nil ? (url.username, url.password) : (username, password)
  }
}
