/// Lines: how they come and go, and what happens to them.
extension GatewayStateMachine {
  static func noLine(_ subdevice: Subdevice) -> GatewayError {
    GatewayError(.client, "there is no line for \(subdevice); set one up first")
  }

  // MARK: Ways to sub-devices

  mutating func setUp(_ connection: ConnectionID, _ id: CallID) {
    calls[id] = .settingUp(connection)
    accesses[connection, default: SubdeviceAccess()].settingUp.append(id)
    open(connection)
  }

  /// Has a way to a sub-device opened, unless that is under way.
  mutating func open(_ connection: ConnectionID) {
    guard accesses[connection]?.isOpening == false else { return }
    accesses[connection]?.isOpening = true
    setTimer(.opening(connection), in: configuration.openTimeout)
    tell(.openConnection(connection))
  }

  /// A sub-device has said who it is, or can't be asked.
  mutating func noteOpened(
    _ connection: ConnectionID, _ result: Result<SubdeviceInfo, GatewayError>, _ id: CallID
  ) {
    complete(id)
    guard accesses[connection]?.isOpening == true else { return }
    deadlines.set(nil, for: .opening(connection))
    noteOpened(connection, checked(result, connection))
  }

  mutating func expireOpening(of connection: ConnectionID) {
    tell(.giveUpOpening(connection))
    let error = GatewayError(
      .subdevice, "the sub-device's connection did not open in time; is the device near, and on?")
    noteOpened(connection, .failure(error))
  }

  private mutating func noteOpened(
    _ connection: ConnectionID, _ result: Result<SubdeviceInfo, GatewayError>
  ) {
    guard let access = accesses[connection] else { return }
    accesses[connection]?.isOpening = false
    accesses[connection]?.settingUp = []
    accesses[connection]?.operations = []
    switch result {
    case .success(let info):
      if !access.settingUp.isEmpty { makeLine(info, connection) }
      lines[info.subdevice]?.info = info
      for call in access.settingUp { complete(call, .line(info.subdevice)) }
      for operation in access.operations { noteOpened(connection, for: operation) }
    case .failure(let error):
      for call in access.settingUp { fail(call, error) }
      for operation in access.operations { finish(operation, .failure(error)) }
      if accesses[connection]?.subdevice == nil { forget(connection) }
    }
  }

  /// A way leads to one sub-device, however often it is opened.
  private func checked(
    _ result: Result<SubdeviceInfo, GatewayError>, _ connection: ConnectionID
  ) -> Result<SubdeviceInfo, GatewayError> {
    guard case .success(let info) = result else { return result }
    if info.subdevice == topics.gateway {
      return .failure(GatewayError(.subdevice, "the sub-device says that it is the gateway"))
    }
    guard let known = accesses[connection]?.subdevice, known != info.subdevice else {
      return result
    }
    return .failure(
      GatewayError(.subdevice, "the sub-device was \(known), and now says \(info.subdevice)"))
  }

  mutating func stopSettingUp(_ connection: ConnectionID, for id: CallID) {
    accesses[connection]?.settingUp.removeAll { $0 == id }
    giveUpOpeningForNobody(connection)
  }

  /// Gives up opening a way to a sub-device when nobody waits for it any more.
  mutating func giveUpOpeningForNobody(_ connection: ConnectionID) {
    guard let access = accesses[connection], access.isOpening, access.settingUp.isEmpty,
      access.operations.isEmpty
    else { return }
    deadlines.set(nil, for: .opening(connection))
    accesses[connection]?.isOpening = false
    tell(.giveUpOpening(connection))
    if access.subdevice == nil { forget(connection) }
  }

  /// Forgets a way to a sub-device; whoever still waits for it fails.
  private mutating func forget(_ connection: ConnectionID, _ error: GatewayError? = nil) {
    let access = accesses.removeValue(forKey: connection)
    deadlines.set(nil, for: .opening(connection))
    tell(.forgetConnection(connection))
    let error = error ?? GatewayError(.subdevice, "the connection was given up")
    for call in access?.settingUp ?? [] { fail(call, error) }
    for operation in access?.operations ?? [] { finish(operation, .failure(error)) }
  }

  // MARK: Making and removing

  /// Makes a line, or gives the one that there is a new way to its sub-device.
  private mutating func makeLine(_ info: SubdeviceInfo, _ connection: ConnectionID) {
    accesses[connection]?.subdevice = info.subdevice
    guard let old = lines[info.subdevice]?.connection else {
      lines[info.subdevice] = Line(connection: connection, info: info)
      return apply(.setUp, to: info.subdevice, isNew: true)
    }
    guard old != connection else { return }
    lines[info.subdevice]?.connection = connection
    forget(old, GatewayError(.subdevice, "another connection was given for the sub-device"))
  }

  mutating func remove(_ subdevice: Subdevice, _ id: CallID) {
    guard let line = lines[subdevice] else { return fail(id, Self.noLine(subdevice)) }
    let error = GatewayError(.client, "the line of \(subdevice) was closed")
    lines[subdevice] = nil
    loginsToCome.removeAll { $0 == subdevice }
    for operation in line.queue { drop(subdevice, line.connection, from: operation, error) }
    forget(line.connection, error)
    forgetSubscriptions(of: subdevice, error)
    complete(id)
    settleDeparture(of: subdevice)
    noteRestoring(of: subdevice)
  }

  // MARK: What happens to a line

  /// Lets something happen to a line, as the table says.
  mutating func apply(
    _ event: LineEvent, to subdevice: Subdevice, error: GatewayError? = nil, isNew: Bool = false
  ) {
    guard let line = lines[subdevice] else { return }
    let state = LineTable.next(line.state, event)
    switch event {
    case .loggedIn: lines[subdevice]?.wantsOnline = true
    case .topologyDeleted, .topologyLost, .loggedOut, .sessionLost:
      lines[subdevice]?.wantsOnline = false
      departed.remove(subdevice)
    case .setUp, .topologyAdded, .gatewayLost: break
    }
    if event != .loggedIn, line.state == .online, state != .online {
      // The cloud has ended them with the session.
      for filter in grants.disownAll(by: .line(subdevice)) {
        grants.remove(filter)
        order.noteEnded(filter)
      }
    }
    interruptLogin(of: subdevice, event, error)
    guard state != line.state || isNew else { return }
    lines[subdevice]?.state = state
    lines[subdevice]?.changes += 1
    tellChange(of: subdevice, error)
  }

  mutating func setDisabled(
    _ isDisabled: Bool, _ subdevice: Subdevice, error: GatewayError? = nil
  ) {
    guard let line = lines[subdevice], line.isDisabled != isDisabled else { return }
    lines[subdevice]?.isDisabled = isDisabled
    tellChange(of: subdevice, error)
  }

  /// Does to a line what a code of the cloud means for it.
  mutating func applyCode(_ code: Int, _ message: String, to subdevice: Subdevice) {
    let known = CloudCode.known(code)
    let error = CloudCode.error(code, message)
    if let event = known.lineEvent { apply(event, to: subdevice, error: error) }
    switch known.overlay {
    case .disabled: setDisabled(true, subdevice, error: error)
    case .enabled: setDisabled(false, subdevice, error: error)
    case nil: break
    }
  }

  mutating func tellChange(of subdevice: Subdevice, _ error: GatewayError?) {
    guard let line = lines[subdevice] else { return }
    log(
      .info, .line, "\(subdevice) is \(line.state.rawValue)\(line.isDisabled ? ", disabled" : "")")
    tell(
      .changeLine(
        LineChange(
          subdevice: subdevice, state: line.state, isDisabled: line.isDisabled, error: error,
          time: time)))
  }
}
