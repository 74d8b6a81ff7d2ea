#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension Endpoint {
  /// Reads address and port as ``description`` writes them; nil where the host is no address.
  package init?(_ text: String) {
    guard let (host, port) = Self.parts(text), let address = IPAddress(host) else { return nil }
    self.init(address: address, port: port)
  }

  /// Splits a host and a port, which may be missing.
  static func parts(_ text: String) -> (host: String, port: UInt16)? {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...])
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    return (String(host), port)
  }
}

extension IPAddress {
  /// Reads an address of IPv4 or IPv6 (RFC 4291 section 2.2); nil for anything else.
  package init?(_ text: String) {
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      self.init(ipv4: UInt32(bigEndian: four.s_addr))
      return
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    let halves = withUnsafeBytes(of: six) { bytes in
      (
        bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self).bigEndian,
        bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian
      )
    }
    self.init(high: halves.0, low: halves.1)
  }
}
