"""Which directives a service unit can have, and what kind of value each takes.

Of systemd 245 to 257, as systemd.unit(5), systemd.service(5), systemd.exec(5), systemd.kill(5) and
systemd.resource-control(5) list them. A directive that only some of these versions know is here too: an
older one ignores it.
"""

from __future__ import annotations

# Names by kind; a kind is what `kinds.py` knows how to read.
_SERVICE = {
    "truth": """PermissionsStartOnly RootDirectoryStartOnly RemainAfterExit GuessMainPID NonBlocking
        CPUSchedulingResetOnFork RemoveIPC TTYReset TTYVHangup TTYVTDisallocate SyslogLevelPrefix
        NoNewPrivileges MemoryDenyWriteExecute RestrictRealtime RestrictSUIDSGID LockPersonality
        PrivateDevices ProtectKernelTunables ProtectKernelModules ProtectKernelLogs ProtectClock
        PrivateNetwork PrivateMounts IgnoreSIGPIPE SendSIGKILL SendSIGHUP CPUAccounting MemoryAccounting
        IOAccounting BlockIOAccounting TasksAccounting IPAccounting RootEphemeral MemoryZSwapWriteback
        CoredumpReceive""",
    "fatal_truth": "DynamicUser",
    "optional_truth": "MemoryKSM SetLoginEnvironment MountAPIVFS BindLogSockets",
    "truth_or_word": """ProtectSystem ProtectHome ProtectHostname ProtectControlGroups PrivateTmp PrivateUsers
        PrivatePIDs PrivateIPC RestrictNamespaces Delegate RuntimeDirectoryPreserve
        FileDescriptorStorePreserve ProtectProc ProcSubset""",
    "span": """RestartSec RuntimeMaxSec RuntimeRandomizedExtraSec WatchdogSec LogRateLimitIntervalSec
        TimeoutCleanSec RestartMaxDelaySec StartLimitInterval""",
    "span_or_never": "TimeoutSec TimeoutStartSec TimeoutStopSec",
    "abort_span": "TimeoutAbortSec",
    "optional_span": "CPUQuotaPeriodSec",
    "nanoseconds": "TimerSlackNSec",
    "mode": """UMask RuntimeDirectoryMode StateDirectoryMode CacheDirectoryMode LogsDirectoryMode
        ConfigurationDirectoryMode""",
    "count": "FileDescriptorStoreMax LogRateLimitBurst StartLimitBurst RestartSteps",
    "nice": "Nice",
    "oom": "OOMScoreAdjust",
    "limit": """LimitCPU LimitFSIZE LimitDATA LimitSTACK LimitCORE LimitRSS LimitNOFILE LimitAS LimitNPROC
        LimitMEMLOCK LimitLOCKS LimitSIGPENDING LimitMSGQUEUE LimitNICE LimitRTPRIO LimitRTTIME""",
    "memory": "MemoryHigh MemoryMax MemoryLimit StartupMemoryHigh StartupMemoryMax",
    "memory_or_none": """MemoryMin MemoryLow MemorySwapMax MemoryZSwapMax DefaultMemoryMin DefaultMemoryLow
        StartupMemoryLow StartupMemorySwapMax StartupMemoryZSwapMax DefaultStartupMemoryLow""",
    "tasks": "TasksMax",
    "quota": "CPUQuota",
    "weight": "CPUWeight StartupCPUWeight IOWeight StartupIOWeight",
    "user": "User Group",
    "type": "Type",
    "restart": "Restart",
    "kill_mode": "KillMode",
    "signal": "KillSignal RestartKillSignal FinalKillSignal WatchdogSignal ReloadSignal",
    "exit_type": "ExitType",
    "notify_access": "NotifyAccess",
    "oom_policy": "OOMPolicy",
    "restart_mode": "RestartMode",
    "failure_mode": "TimeoutStartFailureMode TimeoutStopFailureMode",
    "folder": "WorkingDirectory",
    "fatal_path": "RootDirectory RootImage RootVerity",
    "path": """TTYPath NetworkNamespacePath IPCNamespacePath USBFunctionDescriptors USBFunctionStrings""",
    "pid_file": "PIDFile",
    "text": """SyslogIdentifier PAMName UtmpIdentifier RebootArgument BusName Slice LogNamespace""",
    "cpus": "CPUAffinity",
    "cpu_list": "AllowedCPUs StartupAllowedCPUs AllowedMemoryNodes StartupAllowedMemoryNodes NUMAMask",
    "command": "ExecCondition ExecStartPre ExecStart ExecStartPost ExecReload ExecStop ExecStopPost",
    "environment": "Environment",
    "environment_file": "EnvironmentFile",
    "names": "PassEnvironment",
    "names_or_pairs": "UnsetEnvironment",
    "word": """StandardInput StandardOutput StandardError IOSchedulingClass IOSchedulingPriority
        CPUSchedulingPolicy CPUSchedulingPriority NUMAPolicy CoredumpFilter TTYRows TTYColumns
        SyslogFacility SyslogLevel LogLevelMax KeyringMode Personality UtmpMode SELinuxContext
        AppArmorProfile SmackProcessLabel MountFlags SystemCallErrorNumber DevicePolicy ManagedOOMSwap
        ManagedOOMMemoryPressure ManagedOOMMemoryPressureLimit ManagedOOMMemoryPressureDurationSec
        ManagedOOMPreference RootHash RootHashSignature RootImageOptions RootImagePolicy
        MountImagePolicy ExtensionImagePolicy MemoryPressureWatch MemoryPressureThresholdSec CPUShares
        StartupCPUShares BlockIOWeight StartupBlockIOWeight StartLimitAction FailureAction
        DelegateSubgroup""",
    "words": """SupplementaryGroups RestartPreventExitStatus RestartForceExitStatus SuccessExitStatus
        ReadWritePaths ReadOnlyPaths InaccessiblePaths ExecPaths NoExecPaths ReadWriteDirectories
        ReadOnlyDirectories InaccessibleDirectories ExtensionDirectories RuntimeDirectory StateDirectory
        CacheDirectory LogsDirectory ConfigurationDirectory BindPaths BindReadOnlyPaths
        TemporaryFileSystem IPAddressAllow IPAddressDeny SystemCallArchitectures ExecSearchPath
        DisableControllers""",
    "units": "Sockets",
    "set": """SystemCallFilter SystemCallLog RestrictAddressFamilies RestrictFileSystems CapabilityBoundingSet
        AmbientCapabilities SecureBits RestrictNetworkInterfaces""",
    "lines": """LogExtraFields LogFilterPatterns LoadCredential LoadCredentialEncrypted SetCredential
        SetCredentialEncrypted ImportCredential StandardInputText StandardInputData ExtensionImages
        MountImages DeviceAllow IODeviceWeight IOReadBandwidthMax IOWriteBandwidthMax IOReadIOPSMax
        IOWriteIOPSMax IODeviceLatencyTargetSec BlockIODeviceWeight BlockIOReadBandwidth
        BlockIOWriteBandwidth IPIngressFilterPath IPEgressFilterPath BPFProgram SocketBindAllow
        SocketBindDeny OpenFile NFTSet""",
    "obsolete": "SysVStartPriority BusPolicy Capabilities NetClass",
}  # fmt: skip

_CONDITIONS = """PathExists PathExistsGlob PathIsDirectory PathIsSymbolicLink PathIsMountPoint PathIsReadWrite
        PathIsEncrypted DirectoryNotEmpty FileNotEmpty FileIsExecutable NeedsUpdate FirstBoot
        Architecture Firmware Virtualization Host KernelCommandLine KernelVersion Credential Security
        Capability ACPower Memory CPUFeature CPUs Environment User Group ControlGroupController
        OSRelease MemoryPressure CPUPressure IOPressure Version KernelModuleLoaded""".split()  # fmt: skip

_UNIT = {
    "text": "Description JobTimeoutRebootArgument RebootArgument",
    "path": "SourcePath",
    "words": "Documentation",
    "units": """Requires Requisite Wants BindsTo BindTo Upholds Conflicts Before After OnSuccess
        OnFailure PropagatesReloadTo PropagateReloadTo ReloadPropagatedFrom PropagateReloadFrom
        PropagatesStopTo StopPropagatedFrom PartOf JoinsNamespaceOf RequiresOverridable
        RequisiteOverridable""",
    "kept_words": "RequiresMountsFor WantsMountsFor",
    "truth": """StopWhenUnneeded RefuseManualStart RefuseManualStop AllowIsolate DefaultDependencies
        IgnoreOnIsolate OnFailureIsolate SurviveFinalKillSignal""",
    "span": "StartLimitIntervalSec StartLimitInterval",
    "span_or_never": "JobTimeoutSec JobRunningTimeoutSec",
    "count": "StartLimitBurst",
    "word": """JobTimeoutAction StartLimitAction FailureAction SuccessAction OnSuccessJobMode OnFailureJobMode
        CollectMode FailureActionExitStatus SuccessActionExitStatus""",
    "lines": " ".join(f"{verb}{what}" for verb in ("Condition", "Assert") for what in _CONDITIONS),
    "obsolete": "IgnoreOnSnapshot",
}  # fmt: skip

_INSTALL = {"units": "Alias WantedBy RequiredBy UpheldBy Also", "word": "DefaultInstance"}

KIND_OF: dict[str, str] = {
    f"{section}.{name}": kind
    for section, kinds in (("Service", _SERVICE), ("Unit", _UNIT), ("Install", _INSTALL))
    for kind, names in kinds.items()
    for name in names.split()
}

# Two names of one directive; what counts is the order in which they stand.
SAME_AS: dict[str, str] = {
    "Unit.StartLimitInterval": "Unit.StartLimitIntervalSec",
    "Service.StartLimitInterval": "Unit.StartLimitIntervalSec",
    "Service.StartLimitBurst": "Unit.StartLimitBurst",
    "Service.StartLimitAction": "Unit.StartLimitAction",
    "Service.FailureAction": "Unit.FailureAction",
    "Service.RebootArgument": "Unit.RebootArgument",
    "Unit.BindTo": "Unit.BindsTo",
    "Unit.PropagateReloadTo": "Unit.PropagatesReloadTo",
    "Unit.PropagateReloadFrom": "Unit.ReloadPropagatedFrom",
    "Unit.RequiresOverridable": "Unit.Requires",
    "Unit.RequisiteOverridable": "Unit.Requisite",
    "Service.ReadWriteDirectories": "Service.ReadWritePaths",
    "Service.ReadOnlyDirectories": "Service.ReadOnlyPaths",
    "Service.InaccessibleDirectories": "Service.InaccessiblePaths",
}
# A directive that sets several others.
ALSO_SETS: dict[str, tuple[str, ...]] = {
    "Service.TimeoutSec": ("Service.TimeoutStartSec", "Service.TimeoutStopSec"),
}
SECTIONS = frozenset({"Unit", "Service", "Install"})
# A directive's name → the sections it can stand in.
HOMES: dict[str, tuple[str, ...]] = {}
for _directive in KIND_OF:
    _section, _, _name = _directive.partition(".")
    HOMES[_name] = (*HOMES.get(_name, ()), _section)
