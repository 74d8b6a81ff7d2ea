public import DeviceSDK
public import RepriseCore

/// What the weather service is asked for.
enum Weather: RequestTarget {
  case tonight(place: String)

  var service: String { "weather/tonight" }

  var parameters: JSONValue {
    switch self {
    case .tonight(let place): ["place": .string(place)]
    }
  }
}

/// The weather of the coming night.
public struct Forecast: Decodable, Sendable, Hashable {
  /// The lowest temperature outside, in degrees.
  public var lowest: Double

  /// Asks the weather service.
  /// - Parameters:
  ///   - place: The place.
  ///   - client: The service's world: a WebSocket, a server of HTTP, a recording, a folder of files.
  /// - Returns: The forecast.
  /// - Throws: `RequestError` when there is no answer.
  public static func tonight(in place: String, on client: any DataClient) async throws -> Forecast {
    let provider = RequestProvider<Weather>(client: client)
    let forecast: Forecast = try await provider.request(.tonight(place: place))
    try await provider.close()
    return forecast
  }

  /// How warm the room is to be: in a night of frost it does not get as cool as in others.
  public var target: Temperature { lowest < 0 ? 18.0 : 16.5 }
}
