import Testing
import Wire

@testable import RepriseCore

@Suite struct FilterMemoryTests {
  /// What a name of one byte takes, and a connection.
  private static let name = 97
  private static let connection = 96

  @Test func givesBackWhatAConnectionTookAndNothingElse() {
    var memory = FilterMemory(limit: 1 << 20)
    for connection in 1...100 {
      memory.setClient([0x63], of: connection)
      memory.setTopic([0x74], 1, of: .client, on: connection)
      memory.setTopic([0x75], 1, of: .server, on: connection)
    }
    let one = Self.connection + 3 * Self.name
    #expect(memory.reserved == 100 * one)
    memory.forget(7)
    #expect(memory.reserved == 99 * one)
    #expect(memory.client(of: 7) == nil && memory.topic(1, of: .client, on: 7) == nil)
    #expect(memory.client(of: 8) == [0x63])
    #expect(memory.topic(1, of: .client, on: 8) == [0x74])
    #expect(memory.topic(1, of: .server, on: 8) == [0x75])
    // Again is no more.
    memory.setTopic([0x76, 0x76], 1, of: .server, on: 8)
    #expect(memory.reserved == 99 * one + 1 && memory.topic(1, of: .server, on: 8) == [0x76, 0x76])
    memory.forget(7)
    #expect(memory.reserved == 99 * one + 1 && memory.forgotten == 0)
  }

  @Test func forgetsTheOldestWhenThereIsTooMuch() {
    var memory = FilterMemory(limit: 10 * (Self.connection + Self.name))
    for connection in 1...10 { memory.setClient([0x63], of: connection) }
    memory.forget(1)
    memory.setClient([0x63], of: 11)
    #expect(memory.forgotten == 0)
    memory.setClient([0x63], of: 12)
    #expect(memory.forgotten == 1 && memory.client(of: 2) == nil && memory.client(of: 3) != nil)
    // One that takes everything is forgotten itself at last.
    memory.setTopic([UInt8](repeating: 0x74, count: 10_000), 1, of: .client, on: 12)
    #expect(memory.forgotten == 11 && memory.reserved == 0)
  }

  @Test func staysSmallHoweverManyConnectionsAreOver() {
    var memory = FilterMemory(limit: 3 * (Self.connection + Self.name))
    for connection in 1...1_000 {
      memory.setClient([0x63], of: connection)
      if connection > 2 { memory.forget(connection - 2) }
    }
    #expect(memory.reserved == 2 * (Self.connection + Self.name) && memory.forgotten == 0)
    #expect(memory.client(of: 999) != nil && memory.client(of: 1_000) != nil)
  }

  @Test func theFilterSaysWhatItForgot() throws {
    var filter = try SessionFilter("topic ~ a", memory: 300)
    func publish(_ topic: String, _ connection: Int) throws -> Event {
      var event = try Sample.event(
        MQTTPacket(
          .publish(.init(topic: topic, payload: [], properties: [.init(.topicAlias, .integer(1))])),
          version: .v5_0))
      event.context.connection = connection
      return event
    }
    #expect(try publish("a", 1).withView { filter.matches($0) })
    #expect(try publish("", 1).withView { filter.matches($0) })
    #expect(filter.note == nil)
    #expect(try publish("a", 2).withView { filter.matches($0) })
    #expect(try !publish("", 1).withView { filter.matches($0) })
    #expect(try publish("", 2).withView { filter.matches($0) })
    #expect(
      filter.note == "the client and the topics behind aliases of 1 connection were forgotten by "
        + "the filter for lack of memory: what it says of them chose nothing; --memory gives it "
        + "more")
    filter.beginFile()
    #expect(filter.note == nil)
  }
}
