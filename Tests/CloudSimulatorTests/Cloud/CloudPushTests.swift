import CloudSimulator
import RepriseCore
import Testing

@Suite struct CloudPushTests {
  static let device = #""iotId":"iot-dn","productKey":"pk","deviceName":"dn""#

  @Test(arguments: [
    (
      #""properties":{"Switch":1}"#,
      "/thing/properties",
      #"{"method":"thing.properties","id":"1","version":"1.0","params":{"#
        + device + #","items":{"Switch":{"time":2000,"value":1}}}}"#
    ),
    (
      #""event":{"identifier":"Error","type":"alert","value":{"Code":7}}"#,
      "/thing/events",
      #"{"method":"thing.events","id":"1","version":"1.0","params":{"#
        + device
        + #","identifier":"Error","name":"Error","type":"alert","value":{"Code":7},"time":2000}}"#
    ),
    (
      #""status":"offline""#,
      "/thing/status",
      #"{"method":"thing.status","id":"1","version":"1.0","params":{"#
        + device
        + #","status":{"time":2000,"value":3},"statusLast":1,"netType":"NET_WIFI"}}"#
    ),
    (
      #""binding":"Bind""#,
      "/_thing/event/notify",
      #"{"method":"_thing.event.notify","id":"1","version":"1.0","params":{"identifier":"#
        + #""awss.BindNotify","value":{"# + device
        + #","identityId":"identity-1","owned":1,"operation":"Bind"}}}"#
    ),
    (
      #""topic":"/thing/topo/add/status","params":{"status":0}"#,
      "/thing/topo/add/status",
      #"{"method":"thing.topo.add.status","id":"1","version":"1.0","params":{"status":0}}"#
    ),
    (
      #""topic":"x/y","method":"m","params":[]"#,
      "/x/y",
      #"{"method":"m","id":"1","version":"1.0","params":[]}"#
    ),
    (#""topic":"/thing/model/down_raw","payload":"raw ü""#, "/thing/model/down_raw", "raw ü"),
  ])
  func hasTheDocumentedShape(content: String, topic: String, payload: String) throws {
    let script = try CloudScript(#"{"pushes":[{\#(content),"device":"pk/dn"}]}"#)
    var machine = CloudMachine(script)
    #expect(machine.lines(.started, at: seconds(2)) == [down + topic + " " + payload])
    // A cloud starts once.
    #expect(machine.lines(.started, at: seconds(3)).isEmpty)
  }

  @Test func comesAfterTheFirstMessageOfADevice() throws {
    let script = #"{"pushes":[{"topic":"/p","payload":"!","after":3,"every":5,"times":3}]}"#
    var machine = CloudMachine(try CloudScript(script))
    #expect(machine.deadline == nil)
    #expect(machine.handle(request("/x", "no request"), now: seconds(1)).isEmpty)
    #expect(machine.handle(request("/x", "no request"), now: seconds(2)).isEmpty)
    var times: [Timestamp] = []
    while let deadline = machine.deadline {
      times.append(deadline)
      #expect(machine.lines(.timePassed, at: deadline) == [down + "/p !"])
    }
    #expect(times == [seconds(4), seconds(9), seconds(14)])
  }

  @Test func comesAfterEveryRequestOnATopic() throws {
    let script = #"{"pushes":[{"topic":"/p","payload":"!","on":"/light/+","after":1}]}"#
    var machine = CloudMachine(try CloudScript(script))
    _ = machine.handle(request("/x", #"{"id":1}"#), now: seconds(0))
    #expect(machine.deadline == nil)
    for start in [10.0, 20.0] {
      _ = machine.handle(request("/light/set", #"{"id":1}"#), now: seconds(start))
      #expect(machine.deadline == seconds(start + 1))
      #expect(machine.lines(.timePassed, at: seconds(start + 1)) == [down + "/p !"])
    }
  }

  @Test func doesNotMakeUpForWhatWasMissed() throws {
    let script = #"{"pushes":[{"topic":"/p","payload":"!","every":1,"device":"pk/dn"}]}"#
    var machine = CloudMachine(try CloudScript(script))
    #expect(machine.lines(.started, at: seconds(0)).count == 1)
    #expect(machine.lines(.timePassed, at: seconds(100)).count == 1)
    #expect(machine.deadline == seconds(101))
  }

  @Test func comesOnCommand() {
    var machine = CloudMachine()
    let push = CloudPush(.payload([65], topic: "/p"), qos: .atMostOnce)
    let outputs = machine.handle(.commanded(push, to: lamp), now: seconds(0))
    #expect(
      outputs == [.publish(Message(topic: down + "/p", payload: [65], qos: .atMostOnce))])
  }
}
