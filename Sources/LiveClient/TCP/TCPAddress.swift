import Glibc
package import RepriseCore

/// Where to connect to by TCP: an address of the internet with a port.
package struct TCPAddress: Sendable, Hashable {
  /// The family, such as `AF_INET6`.
  let family: Int32
  /// The `sockaddr` as it lies in memory.
  private let bytes: [UInt8]

  /// Looks up a host; this blocks until its name server has answered.
  /// - Parameters:
  ///   - host: A name, or an address without brackets.
  ///   - port: The port.
  /// - Returns: The addresses, in the order in which they are to be tried; at least one.
  /// - Throws: ``DataClientError`` when the name is not known.
  package static func resolve(_ host: String, port: UInt16) throws(DataClientError) -> [TCPAddress]
  {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    let number = errno
    guard code == 0 else {
      let text = code == EAI_SYSTEM ? systemText(number) : String(cString: gai_strerror(code))
      throw DataClientError(.transport, "the host \(host) is not found: \(text)")
    }
    defer { freeaddrinfo(list) }
    var found: [TCPAddress] = []
    var entry = list
    while let info = entry?.pointee {
      if let address = info.ai_addr {
        let memory = UnsafeRawBufferPointer(start: address, count: Int(info.ai_addrlen))
        found.append(TCPAddress(family: info.ai_family, bytes: Array(memory)))
      }
      entry = info.ai_next
    }
    guard !found.isEmpty else {
      throw DataClientError(.transport, "the host \(host) has no address")
    }
    return found
  }

  /// Asks the system for an address of a socket.
  /// - Parameter ask: A function such as `getsockname`.
  init?(_ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask($0, &length) }
    }
    guard code == 0 else { return nil }
    family = Int32(storage.ss_family)
    bytes = withUnsafeBytes(of: &storage) { Array($0.prefix(Int(length))) }
  }

  private init(family: Int32, bytes: [UInt8]) {
    self.family = family
    self.bytes = bytes
  }

  /// The address, of 4 or 16 bytes, and the port; nil when it is none of the internet.
  package var parts: (bytes: [UInt8], port: UInt16)? {
    // RFC 3493 section 3: behind the family and the port, in IPv6 with the flow between.
    let place: Range<Int>
    switch family {
    case AF_INET: place = 4..<8
    case AF_INET6: place = 8..<24
    default: return nil
    }
    guard bytes.count >= place.upperBound else { return nil }
    return (Array(bytes[place]), UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
  }

  /// The address without its port, in numbers; nil when the system can't write it.
  var numericHost: String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let size = socklen_t(text.count)
    let code = withPointer { getnameinfo($0, $1, &text, size, nil, 0, NI_NUMERICHOST) }
    guard code == 0 else { return nil }
    return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
  }

  /// Lends the address to a function of the system.
  func withPointer(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var storage = sockaddr_storage()
    return withUnsafeMutablePointer(to: &storage) { pointer in
      let memory = UnsafeMutableRawBufferPointer(
        start: pointer, count: MemoryLayout<sockaddr_storage>.size)
      let length = min(bytes.count, memory.count)
      memory.copyBytes(from: bytes.prefix(length))
      return pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(length))
      }
    }
  }
}
