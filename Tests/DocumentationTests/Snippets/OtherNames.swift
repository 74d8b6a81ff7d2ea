import CloudSimulator
import DeviceSDK
import LiveHTTP
import RepriseCore

/// The code of the page on the names of other SDKs.
///
/// It is compiled here; the tests of the four systems run the same calls.
enum OtherNames {
  static func channel(
    on client: any DataClient, configuration: ChannelConfiguration, iotToken: String,
    show: (ChannelMessage) -> Void
  ) async throws {
    let owner = Owner<Channel>(on: client, configuration: configuration)
    let channel = try await owner.start()
    try await channel.bind(token: iotToken)
    for try await message in channel.messages(matching: "/thing/properties") { show(message) }
  }

  static func gateway(
    on client: any DataClient, configuration: GatewayConfiguration, bluetoothLamp: BluetoothLamp
  ) async throws {
    let gateway = try await Owner<Gateway>(on: client, configuration: configuration).start()
    let line = try await gateway.connect(bluetoothLamp)
    for await command in line.commands { try await bluetoothLamp.perform(command) }
  }

  static func link(
    on client: any DataClient, configuration: LinkConfiguration, token: String
  ) async throws {
    let link = try await Owner<Link>(on: client, configuration: configuration).start()
    try await link.login(token: token)
    try await link.subscribe("lobby")
    for await event in link.stateEvents { print(event.previous, event.current, event.reason) }
  }

  static func provider(on webSocket: any DataClient) async throws -> Analysis {
    let provider = RequestProvider<Robots>(client: webSocket, plugins: [BusinessErrors()])
    let answer: Analysis = try await provider.request(.analyze(question: "Are you OK?"))
    return answer
  }

  static func request(isOffline: Bool, base: String) async throws -> Weather {
    let client: any DataClient =
      isOffline ? try LocalFileClient(folder: "answers") : try HTTPClient(url: base)
    let weather = try await client.send(WeatherRequest(city: "Hangzhou"), timeout: .seconds(5))
    return weather
  }
}

struct BluetoothLamp: SubdeviceConnection {
  var isReady: Bool { true }
  func open() async throws {}
  func close() async throws {}
  func info() throws -> SubdeviceInfo {
    try SubdeviceInfo(
      productKey: "home", deviceName: "lamp", clientID: "lamp-1", sign: "292f",
      signMethod: "hmacSha1", timestamp: "789")
  }
  func perform(_ command: GatewayCommand) async throws {}
}

enum Robots: RequestTarget {
  case analyze(question: String)

  var service: String { "test-services/nlu/analyze" }
  var parameters: JSONValue {
    switch self {
    case .analyze(let question): ["question": .string(question)]
    }
  }
}

struct Analysis: Decodable {
  var text: String
}

struct Weather: Decodable {
  var degrees: Int
}

struct WeatherRequest: Request {
  typealias Response = Weather
  var city: String
  var path: String { "weather" }
  var parameters: [String: JSONValue] { ["city": .string(city)] }
}
