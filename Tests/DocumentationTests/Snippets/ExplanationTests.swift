import Capture
import CloudSimulator
import DeviceSDK
import Foundation
import RepriseCore
import Testing

/// The code of the explanations.
@Suite struct ExplanationTests {
  private let recordings = Article.package.appending(path: "Recordings").path
  private let tests = Article.package.appending(path: "Tests").path

  @Test func aDayPasses() async throws {
    let client = InProcessBroker().client(named: "app")
    let day: Int64 = 24 * 60 * 60 * 1_000_000_000
    let begin = client.now
    let tomorrow = Timestamp(nanoseconds: begin.nanoseconds + day)
    let event = try await client.next(before: tomorrow)
    #expect(event == .deadline)
    #expect(client.now.nanoseconds(since: begin) == day)
  }

  @Test func elevenSecondsPass() async throws {
    let client = try ReplayClient(
      contentsOf: "\(recordings)/keep-alive-expired/capture.pcap", of: .client("silent-mqttv311"))
    let will = Message(topic: "status/mqttv311", payload: Array("lost".utf8), qos: .atLeastOnce)
    let options = ConnectOptions(clientID: "silent-mqttv311", keepAlive: 5, will: will)
    try await client.perform(ClientAction(.init(rawValue: 1), .connect(options)))
    #expect(try await client.next(before: nil) == .connected(ClientEvent.Connected()))
    let begin = client.now
    let filters = [Subscription("command/silent", qos: .atMostOnce)]
    try await client.perform(ClientAction(.init(rawValue: 2), .subscribe(filters)))
    while try await client.next(before: nil) != ClientEvent.ended {}
    #expect(client.now.nanoseconds(since: begin) > 11_000_000_000)
  }

  @Test func twoHaveOneTime() async throws {
    let couple = "\(tests)/RepriseTestingTests/Recordings/couple"
    let options = ReplayOptions(pace: .shared(SharedTime()))
    let speaker = try ReplayClient(contentsOf: "\(couple)/speaker.jsonl", options: options)
    let listener = try ReplayClient(contentsOf: "\(couple)/listener.jsonl", options: options)
    for (client, name) in [(speaker, "speaker"), (listener, "listener")] {
      let options = ConnectOptions(clientID: name)
      try await client.perform(ClientAction(.init(rawValue: 1), .connect(options)))
      #expect(try await client.next(before: nil) == .connected(ClientEvent.Connected()))
    }
    let filters = [Subscription("talk", qos: .atMostOnce)]
    try await listener.perform(ClientAction(.init(rawValue: 2), .subscribe(filters)))
    #expect(try await listener.next(before: nil) == .subscribed(.init(rawValue: 2), [.atMostOnce]))
    let minute = speaker.now.advanced(by: .seconds(60))
    #expect(try await speaker.next(before: minute) == .deadline)
    #expect(listener.now == minute)
    let message = Message(topic: "talk", payload: Array("1".utf8))
    try await speaker.perform(ClientAction(.init(rawValue: 2), .publish(message)))
    #expect(try await listener.next(before: nil) == .message(message))
  }

  @Test func anotherPayloadDiverges() async throws {
    let client = try ReplayClient(
      contentsOf: "\(tests)/RepriseTestingTests/Recordings/kitchen.jsonl")
    await #expect {
      try await withSession(on: client, configuration: MQTTConfiguration(clientID: "kitchen")) {
        mqtt in
        try await mqtt.publish("home/door/bell", "dong", retain: true)
      }
    } throws: { error in
      "\(error)".contains("payload from byte 1: expected 69 6e 67, actual 6f 6e 67")
    }
  }
}
