import DeviceSDK
import RepriseCore

/// The radiator, online, between the cloud and the family.
struct Home: Sendable {
  private let gateway: Gateway
  private let line: GatewayLine
  private let radiator: Radiator
  /// The family; nil before it is joined, or when there is none.
  var family: Family?
  private let show: @Sendable (String) -> Void
  /// What the cloud wants; listened to before the radiator is online, as nothing is told twice.
  private let commands: BroadcastSequence<GatewayCommand>
  /// What becomes of the radiator's line.
  private let changes: BroadcastSequence<LineChange>

  init(
    _ gateway: Gateway, _ line: GatewayLine, _ radiator: Radiator,
    _ show: @escaping @Sendable (String) -> Void
  ) {
    self.gateway = gateway
    self.line = line
    self.radiator = radiator
    self.show = show
    commands = line.commands
    changes = line.changes
  }

  // MARK: Living

  /// Makes reports at regular times, and does in between what cloud and family want.
  ///
  /// One thing is done after the other, as it came: so cloud and family are told in the same order on every run.
  func live(reports: Int, every interval: Duration) async throws {
    // From when the radiator came online, and not from now: a recording may have gone on to what the cloud said next.
    guard var moment = await changes.first(where: { $0.state == .online })?.time else { return }
    let (happenings, happening) = AsyncThrowingStream<Happening, any Error>.makeStream()
    var next = happenings.makeAsyncIterator()
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask { await listen(happening) }
      if let family { group.addTask { await listen(to: family, happening) } }
      for _ in 0..<reports {
        moment = moment.advanced(by: interval)
        group.addTask { [moment] in await wake(happening, at: moment) }
        try await act(on: &next)
        try await report()
      }
    }
  }

  /// Does what is wanted until a report is due.
  private func act(
    on next: inout AsyncThrowingStream<Happening, any Error>.Iterator
  ) async throws {
    while let happening = try await next.next() {
      switch happening {
      case .reportIsDue: return
      case .command(let command): try await obey(command)
      case .wish(let wish): try await family?.grant(wish, by: radiator)
      }
    }
  }

  private func report() async throws {
    radiator.work()
    let (room, target) = (radiator.room, radiator.target)
    try await line.post(properties: ["Temperature": room, "TargetTemperature": target])
    try await tell("\(room), on the way to \(target)")
  }

  private func obey(_ command: GatewayCommand) async throws {
    guard case .setProperties = command.kind,
      let degrees = command.params["TargetTemperature"]?.double,
      let target = Temperature(degrees: degrees), Radiator.range.contains(target)
    else {
      return try await line.answer(
        command, code: 460, message: "TargetTemperature is 5 to 30, and all there is to set")
    }
    radiator.target = target
    try await tell("the cloud wants \(target)")
    try await line.answer(command)
  }

  // MARK: What happens

  private enum Happening: Sendable {
    case reportIsDue
    case command(GatewayCommand)
    case wish(Wish)
  }

  private typealias Happenings = AsyncThrowingStream<Happening, any Error>.Continuation

  private func listen(_ happening: Happenings) async {
    for await command in commands where command.needsAnswer { happening.yield(.command(command)) }
  }

  private func listen(to family: Family, _ happening: Happenings) async {
    for await wish in family.wishes { happening.yield(.wish(wish)) }
  }

  private func wake(_ happening: Happenings, at moment: Timestamp) async {
    do {
      try await gateway.sleep(until: moment)
      happening.yield(.reportIsDue)
    } catch {
      happening.finish(throwing: error)
    }
  }

  /// Takes the radiator offline.
  func close() async throws { try await line.close() }

  private func tell(_ text: String) async throws {
    show("\(gateway.now) \(text)")
    try await family?.tell(text)
  }
}
