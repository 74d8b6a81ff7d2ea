import Glibc
package import RepriseCore

/// An address of IPv4 or IPv6 that this machine has, with what is known of its interface.
package struct InterfaceAddress: Sendable, Hashable {
  /// What an interface is like.
  package struct Condition: OptionSet, Sendable, Hashable {
    /// The bits.
    package let rawValue: UInt8

    /// Creates a condition of bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It was switched on.
    static let up = Condition(rawValue: 1)
    /// It can carry something: its cable is plugged in, its radio has found its network.
    static let running = Condition(rawValue: 2)
    /// It leads to this machine only.
    static let loopback = Condition(rawValue: 4)
  }

  /// What its interface is like.
  let condition: Condition
  /// The 4 or 16 bytes, as packets have them.
  package let bytes: [UInt8]

  /// Creates an address.
  /// - Parameters:
  ///   - condition: What its interface is like.
  ///   - bytes: The 4 or 16 bytes.
  init(_ condition: Condition, _ bytes: [UInt8]) {
    self.condition = condition
    self.bytes = bytes
  }

  /// Whether other machines may be reached from it.
  var leadsToOthers: Bool {
    condition.contains([.up, .running]) && !condition.contains(.loopback) && isForOthers
  }

  /// Whether it is more than an address of the link or of the machine itself, which each has without any network
  /// (RFC 3927, RFC 4291 section 2.5).
  private var isForOthers: Bool {
    switch bytes.count {
    case 4: bytes[0] != 0 && bytes[0] != 127 && !bytes.starts(with: [169, 254])
    case 16:
      (bytes[0] != 0xfe || bytes[1] & 0xc0 != 0x80)
        && (bytes.dropLast().contains { $0 != 0 } || bytes[15] > 1)
    default: false
    }
  }
}

extension Sequence<InterfaceAddress> {
  /// Whether there is a network: an address that other machines may be reached from.
  var haveNetwork: Bool { contains(where: \.leadsToOthers) }

  /// Tells whether a host may be reached, as far as addresses of this machine show it.
  /// - Parameter host: A name, or an address with or without brackets; this machine itself takes no network, but
  ///   its loopback.
  /// - Returns: Whether there is a way.
  func mayLead(to host: String) -> Bool {
    let host = host.lowercased()
    let isLocal =
      host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.")
      || host == "::1" || host == "[::1]"
    return isLocal ? contains { $0.condition.contains([.up, .loopback]) } : haveNetwork
  }
}

extension ClientEvent.Closed.Cause {
  /// Tells why a connection did not come about that met nobody.
  /// - Parameter host: Where it was to lead.
  /// - Returns: The cause.
  static func ofNoWay(to host: String) -> Self {
    [InterfaceAddress].lackWay(to: host) ? .noNetwork : .other
  }
}

extension [InterfaceAddress] {
  /// Tells whether no address of this machine leads to a host, as far as the system tells them.
  /// - Parameter host: A name, or an address with or without brackets.
  /// - Returns: Whether there is no way now.
  package static func lackWay(to host: String) -> Bool {
    guard let addresses = try? ofThisMachine() else { return false }
    return !addresses.mayLead(to: host)
  }

  /// Asks the system for all addresses of this machine.
  /// - Returns: The addresses.
  /// - Throws: ``DataClientError`` when it does not tell them.
  package static func ofThisMachine() throws(DataClientError) -> [InterfaceAddress] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else {
      throw DataClientError(
        .transport, "the addresses of this machine are not told: \(systemText(errno))")
    }
    defer { freeifaddrs(list) }
    var found: [InterfaceAddress] = []
    var entry = list
    while let address = entry?.pointee {
      if let bytes = InterfaceAddress.bytes(of: address.ifa_addr) {
        found.append(InterfaceAddress(.init(flags: address.ifa_flags), bytes))
      }
      entry = address.ifa_next
    }
    return found
  }
}

extension InterfaceAddress {
  /// The bytes of an address; nil when it is none of the internet.
  fileprivate static func bytes(of address: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
    guard let address else { return nil }
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
      }
    case AF_INET6:
      return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
      }
    default: return nil
    }
  }
}

extension InterfaceAddress.Condition {
  /// What the system's flags of an interface say.
  fileprivate init(flags: UInt32) {
    self = []
    if flags & UInt32(IFF_UP) != 0 { insert(.up) }
    if flags & UInt32(IFF_RUNNING) != 0 { insert(.running) }
    if flags & UInt32(IFF_LOOPBACK) != 0 { insert(.loopback) }
  }
}
