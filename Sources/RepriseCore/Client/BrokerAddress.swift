/// Where a broker is, and whom to trust there, for a live client: `MosquittoClient(address)`.
public struct BrokerAddress: Sendable, Hashable {
  /// Where it is: `mqtt://HOST:PORT`, or `mqtts://HOST:PORT` for TLS.
  public var url: String
  /// A file with the certificates of the authorities to trust, PEM; nil trusts those of the system.
  public var authorityFile: String?
  /// Whether the broker's certificate must come from an authority that is trusted.
  public var verifiesCertificate: Bool

  /// Creates an address.
  /// - Parameters:
  ///   - url: Where it is.
  ///   - authorityFile: A file with the certificates of the authorities to trust.
  ///   - verifiesCertificate: Whether its certificate must come from an authority that is trusted.
  public init(url: String, authorityFile: String? = nil, verifiesCertificate: Bool = true) {
    self.url = url
    self.authorityFile = authorityFile
    self.verifiesCertificate = verifiesCertificate
  }
}
