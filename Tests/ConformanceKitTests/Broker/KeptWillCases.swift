import RepriseCore
import Wire

@testable import ConformanceKit

// Wills that are kept, or not, for those who subscribe later.
extension SharedCase {
  static let keptWills: [SharedCase] = [
    SharedCase(
      "a retained will for a new subscription",
      [.retainedWillIsRetained: (0, 1, 0, []), .retainedIsStored: (0, 1, 0, [])]
    ) {
      $0.die(retain: true)
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "gone", retain: true) }
    },
    SharedCase(
      "an older retained message behind a retained will",
      failed: [.retainedWillIsRetained, .retainedIsStored],
      [.retainedWillIsRetained: (1, 0, 0, [21]), .retainedIsStored: (1, 0, 0, [21])]
    ) {
      $0.die(retain: true)
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message behind a retained will, of before the subscription that got the will",
      failed: [.retainedWillIsRetained, .retainedIsStored],
      [.retainedWillIsRetained: (1, 0, 0, [21]), .retainedIsStored: (1, 0, 0, [21])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", retain: true)
      }
      $0.join("s")
      $0.ask(1, "a")
      $0.say(.server, "a", "1", retain: true)
      $0.on(5) {
        $0.join("c", will: .init(topic: "a", payload: Array("gone".utf8), retain: true))
      }
      $0.wait(2)
      $0.on(5) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone")
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "a retained message of before the capture behind a retained will",
      failed: [.retainedWillIsRetained, .retainedIsStored],
      [.retainedWillIsRetained: (1, 0, 0, [19]), .retainedIsStored: (1, 0, 0, [19])]
    ) {
      $0.meet()
      $0.on(5) { $0.join("c", will: .gone(retain: true)) }
      $0.wait(2)
      $0.on(5) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone")
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "0", retain: true) }
    },
    SharedCase(
      "an older retained message behind a retained will that came to one that had just subscribed",
      [.retainedWillIsRetained: (0, 0, 1, [20]), .retainedIsStored: (0, 0, 1, [20])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", retain: true)
      }
      $0.on(5) { $0.join("c", will: .gone(retain: true)) }
      $0.wait(2)
      $0.on(5) { $0.close(.client, .reset) }
      $0.join("s")
      $0.ask(1, "a")
      $0.say(.server, "a", "gone")
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message behind a retained will that came to a shared subscription",
      in: [.v5_0],
      [.retainedWillIsRetained: (0, 0, 1, [20]), .retainedIsStored: (0, 0, 1, [20])]
    ) {
      $0.meet("$share/g/a")
      $0.on(2) { $0.say(.client, "a", "1", retain: true) }
      $0.on(5) { $0.join("c", will: .gone(retain: true)) }
      $0.wait(2)
      $0.on(5) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone")
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "a retained message behind a will without Will Retain",
      [.plainWillStaysPlain: (0, 1, 0, []), .retainedIsStored: (0, 2, 0, [])]
    ) {
      $0.die(retain: false)
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "a will without Will Retain that is retained", failed: [.plainWillStaysPlain],
      [.plainWillStaysPlain: (1, 0, 0, [27]), .retainedIsStored: (0, 1, 0, [])]
    ) {
      $0.die(retain: false)
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "gone", retain: true) }
    },
  ]
}
