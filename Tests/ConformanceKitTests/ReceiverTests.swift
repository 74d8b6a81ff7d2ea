import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// A bad packet violates its clause in any case; what its receiver did stands in the counts.
@Suite("Receivers of bad packets")
struct ReceiverTests {
  /// Returns what is said of a PUBLISH with a bad topic and what follows it.
  private func judgeBadPublish(
    hex: String = "32 07 0002 C328 0007 01", _ rest: (inout Script) -> Void
  ) throws -> ClauseResult {
    let report = try judge {
      $0.start()
      $0.client(hex: hex)
      rest(&$0)
    }
    return try #require(report.results.first { $0.clause.id == "MQTT-1.5.3-1" })
  }

  @Test("The receiver closes: kept")
  func closes() throws {
    let before = try judgeBadPublish { $0.endCapture() }
    let result = try judgeBadPublish { $0.close(.server) }
    #expect(result.violated == 1)
    #expect(result.satisfied == before.satisfied + 1)
  }

  @Test("The sender is faster, or the capture ends: not decided")
  func undecided() throws {
    for end in [ConnectionClosing.How.fin, .endOfCapture] {
      let result = try judgeBadPublish { $0.close(.client, end) }
      #expect(result.violated == 1 && result.undecided == 1)
    }
    let gap = try judgeBadPublish {
      $0.gap(.server)
      $0.close(.server)
    }
    #expect(gap.violated == 1 && gap.undecided == 1)
  }

  @Test("The receiver acknowledges the bad packet: its own violation")
  func acknowledges() throws {
    let result = try judgeBadPublish {
      $0.acknowledge(.server, .puback, 7)
      $0.finish()
    }
    #expect(result.violated == 2 && result.undecided == 0)
    #expect(
      result.findings.last?.message
        == "the server goes on after the bad PUBLISH of frame 4 that the client sent")
  }

  @Test("The receiver answers a later PINGREQ: its own violation; a message a minute later is none")
  func goesOn() throws {
    let pinged = try judgeBadPublish {
      $0.wait(1)
      $0.ping()
      $0.pong()
      $0.finish()
    }
    #expect(pinged.violated == 2)
    // On the way to its end it may have answered.
    let soon = try judgeBadPublish {
      $0.wait(0.99)
      $0.ping()
      $0.pong()
      $0.finish()
    }
    #expect(soon.violated == 1 && soon.undecided == 1)
    let late = try judgeBadPublish {
      $0.wait(60)
      $0.publish(.server, "a")
      $0.finish()
    }
    #expect(late.violated == 1 && late.undecided == 1)
  }

  @Test("A packet that was on its way already proves nothing")
  func crossing() throws {
    let result = try judgeBadPublish {
      $0.publish(.server, "a")
      $0.acknowledge(.server, .puback, 6)
      $0.close(.server)
    }
    #expect(result.violated == 1)
  }

  @Test("Clauses that bind the server alone do not ask clients to close")
  func clientReceives() throws {
    let report = try judge {
      $0.start()
      $0.server(hex: "60 02 0001")
      $0.acknowledge(.client, .pubcomp, 1)
      $0.finish()
    }
    let result = try #require(report.results.first { $0.clause.id == "MQTT-3.6.1-1" })
    #expect(result.violated == 1 && result.undecided == 0)
  }
}
