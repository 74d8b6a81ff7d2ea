import RepriseCore

/// A sub-device's line as the machine keeps it.
struct Line {
  var connection: ConnectionID
  var info: SubdeviceInfo
  var state = LineState.ready
  var isDisabled = false
  /// Whether it is to be online, and so is logged in again after a new connection.
  var wantsOnline = false
  /// What is to be done, the first of which is under way.
  var queue: [OperationID] = []
  /// When it was logged in last, the newest last.
  var logins: [Timestamp] = []
  /// How often its state has changed.
  var changes = 0
}

/// The way to a sub-device as the machine keeps it.
struct SubdeviceAccess {
  /// The sub-device; nil until it has said who it is.
  var subdevice: Subdevice?
  var isOpening = false
  /// The calls that wait for it to be open.
  var settingUp: [CallID] = []
  var operations: [OperationID] = []
}
