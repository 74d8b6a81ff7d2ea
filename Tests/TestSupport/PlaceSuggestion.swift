public import RepriseCore

/// Looks for places, as a map's web service answers.
public struct PlaceSuggestion: Request {
  /// What the service answers.
  public typealias Response = RestaurantTotal
  /// Where it answers.
  public let path = "suggestion/"
  /// The region and a keyword.
  public let parameters: [String: JSONValue]

  /// Creates a request.
  public init(parameters: [String: String]) {
    self.parameters = parameters.mapValues { .string($0) }
  }

  /// The folder of hand-written answers.
  public static let folder = PackageFolder.path("Tests/RepriseCoreTests/LocalFiles/Answers")
}

/// A page of places, and how many there are.
///
/// The service tells its own failures by a status that is not 0, which is none of HTTP's.
public struct RestaurantTotal: Decodable, Sendable, Equatable {
  /// 0 is success.
  public let status: Int
  /// The status in words.
  public let message: String
  /// How many places there are, more than on a page.
  public let count: Int
  /// The places of the page.
  public let data: [Restaurant]
  /// Names the request in the service's own books.
  public let request_id: String

  private enum Key: String, CodingKey {
    case status, message, count, data, request_id
  }

  /// Reads an answer.
  /// - Parameter decoder: What has it.
  /// - Throws: `DecodingError`, also for an answer whose status is a failure.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    status = try values.decode(Int.self, forKey: .status)
    message = try values.decode(String.self, forKey: .message)
    guard status == 0 else {
      throw DecodingError.dataCorruptedError(
        forKey: .status, in: values, debugDescription: "status \(status): \(message)")
    }
    count = try values.decode(Int.self, forKey: .count)
    request_id = try values.decode(String.self, forKey: .request_id)
    data = try values.decode([Restaurant].self, forKey: .data)
  }
}

/// A place.
public struct Restaurant: Decodable, Sendable, Equatable {
  /// A place on Earth, in degrees.
  public struct Location: Decodable, Sendable, Equatable {
    /// The latitude.
    public let lat: Double
    /// The longitude.
    public let lng: Double
  }

  /// Names the place.
  public let id: String
  /// What it is called.
  public let title: String
  /// Where it is.
  public let address: String
  /// What it offers.
  public let category: String
  /// The kind of place.
  public let type: Int
  /// Where it is on a map.
  public let location: Location
  /// The number of the district.
  public let adcode: Int
  /// The province.
  public let province: String
  /// The district.
  public let district: String
}
