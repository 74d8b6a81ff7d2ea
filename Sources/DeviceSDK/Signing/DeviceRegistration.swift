public import RepriseCore

/// Asks the cloud for the secret of a device that knows only its product's, over HTTPS.
///
/// It goes through a client with `Capabilities.requests` whose base is `https://iot-auth.` and the
/// region, `.aliyuncs.com`; the product must allow dynamic registration.
public struct DeviceRegistration: Request {
  /// The answer.
  public struct Response: Decodable, Sendable {
    /// What the cloud made of the registration.
    public struct Device: Decodable, Sendable {
      /// The product's key.
      public let productKey: String
      /// The device's name.
      public let deviceName: String
      private let deviceSecret: Secret

      /// What the device connects with from now on.
      public var credentials: DeviceCredentials {
        DeviceCredentials(
          productKey: productKey, deviceName: deviceName, deviceSecret: deviceSecret)
      }
    }

    /// The code; 200 is success.
    public let code: Int
    /// What the code means, for people.
    public let message: String?
    /// The device, when the code is 200.
    public let data: Device?
  }

  /// `/auth/register/device`.
  public let path = "/auth/register/device"
  /// POST.
  public let method = RequestMethod.post
  /// The product, the device, the random text, and the signature over them.
  public let parameters: [String: String]

  /// Creates a registration.
  /// - Parameters:
  ///   - productKey: The product's key.
  ///   - deviceName: The device's name in the product.
  ///   - productSecret: The product's secret, which signs and is not sent.
  ///   - random: Any text, another one each time.
  ///   - method: How it is signed; not by ``SignMethod/sha256``.
  /// - Throws: ``SigningError`` when a part is missing, or can't be signed so.
  public init(
    productKey: String, deviceName: String, productSecret: Secret, random: String,
    method: SignMethod = .hmacSHA256
  ) throws(SigningError) {
    guard method != .sha256, !random.isEmpty else {
      throw SigningError("a registration is signed by HMAC, over a random text")
    }
    let signed = ["productKey": productKey, "deviceName": deviceName, "random": random]
    let sign = try DeviceSignature.sign(
      signed.mapValues { .string($0) }, method: method, key: .productSecret(productSecret))
    parameters = signed.merging(["sign": sign, "signMethod": method.rawValue]) { $1 }
  }
}
