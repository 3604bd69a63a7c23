//! What an air is made of, and why it cannot be.
use crate::HostId;
use crate::energy::EnergyConfig;
#[cfg(doc)]
use crate::event::AirEvent;
use crate::field::NO_CHANNEL;
use crate::mac::config::{Coordination, MacConfig};
use crate::mac::slots::SlotConfig;
use crate::mobility::Mobility;
use crate::radio::RadioConfig;
use crate::schedule::MAX_NUMBERS;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// What an air is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct AirConfig {
    /// The radio of all hosts, but for those on `channels` of another kind.
    pub radio: RadioConfig,
    /// Their medium access.
    pub mac: MacConfig,
    /// Channels on which radios are of another kind, each named once.
    pub channels: Vec<ChannelConfig>,
    /// What radios draw; `None` where energy is not counted, and batteries last for ever.
    pub energy: Option<EnergyConfig>,
    /// Whether each frame is reported when it begins ([`AirEvent::OnAir`]).
    pub reports_frames: bool,
}

/// What holds on one channel in place of what holds on all others. Radios on different channels neither hear nor
/// disturb one another, so that all who meet are of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelConfig {
    /// The channel.
    pub channel: u8,
    /// The radio of all on it. Frames take as long to all receivers as on all other channels.
    pub radio: RadioConfig,
    /// Their medium access. Radios sleep and resolve addresses as on all other channels.
    pub mac: MacConfig,
}

impl AirConfig {
    /// Radios of one kind on all channels, whose energy is not counted and whose frames are not reported.
    pub const fn new(radio: RadioConfig, mac: MacConfig) -> Self {
        Self { radio, mac, channels: Vec::new(), energy: None, reports_frames: false }
    }

    /// The medium access on a channel.
    pub fn mac_on(&self, channel: u8) -> &MacConfig {
        self.channels.iter().find(|own| own.channel == channel).map_or(&self.mac, |own| &own.mac)
    }
}

/// A host on an air.
#[derive(Debug, Clone, PartialEq)]
pub struct HostConfig {
    /// Its name: its random numbers follow from that.
    pub name: String,
    /// How it moves.
    pub mobility: Mobility,
    /// Its channel: hosts on different channels do not hear one another.
    pub channel: u8,
    /// The radio of a host that has another one, whose number this is: it is always where that one is, and draws on its
    /// battery. Radios of one host are hosts of their own to the air, on channels of their own.
    pub rides_with: Option<HostId>,
    /// What its battery holds, in joules; `None` for a host that needs none, or a radio that rides with another.
    pub battery_j: Option<f64>,
    /// Whether packets for others are reported ([`AirEvent::Overheard`]).
    pub listens_to_all: bool,
    /// What it is to the medium access.
    pub role: Role,
}

impl HostConfig {
    /// A station like others with one radio, on channel 1, that needs no battery and hears what is for it.
    pub fn new(name: String, mobility: Mobility) -> Self {
        Self {
            name,
            mobility,
            channel: 1,
            rides_with: None,
            battery_j: None,
            listens_to_all: false,
            role: Role::Station,
        }
    }
}

/// What a host is to the medium access of its air.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Role {
    /// A station like others. Where slots are owned on its channel, it listens.
    #[default]
    Station,
    /// The owner of these slots of a frame, counted from 0 ([`Coordination::Slots`]).
    SlotOwner(Vec<u32>),
    /// The access point that polls these stations in turn ([`Coordination::Polling`]).
    AccessPoint(Vec<HostId>),
}

/// Why an air cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AirError {
    /// The radio is impossible.
    Radio(&'static str),
    /// The medium access is impossible.
    Mac(&'static str),
    /// What radios draw is impossible.
    Energy(&'static str),
    /// A host cannot have its role.
    Role {
        /// The host.
        host: String,
        /// What is wrong.
        what: &'static str,
    },
    /// A host's battery holds nothing, or is out of this world.
    Battery {
        /// The host.
        host: String,
    },
    /// A host's movement is impossible.
    Mobility {
        /// The host.
        host: String,
        /// What is wrong.
        what: &'static str,
    },
}

impl fmt::Display for AirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Radio(what) => write!(f, "radio: {what}"),
            Self::Mac(what) => write!(f, "medium access: {what}"),
            Self::Energy(what) => write!(f, "energy: {what}"),
            Self::Battery { host } => {
                write!(f, "battery of {host}: it must hold more than 0 J and less than 1e12 J")
            }
            Self::Role { host, what } => write!(f, "medium access of {host}: {what}"),
            Self::Mobility { host, what } => write!(f, "mobility of {host}: {what}"),
        }
    }
}

impl core::error::Error for AirError {}

/// Whether an air can be, movements and batteries aside.
pub(super) fn check(config: &AirConfig, hosts: &[HostConfig]) -> Result<(), AirError> {
    let own = config.channels.iter().map(|own| (&own.radio, &own.mac));
    for (radio, mac) in core::iter::once((&config.radio, &config.mac)).chain(own) {
        radio.fault().map_or(Ok(()), |what| Err(AirError::Radio(what)))?;
        mac.fault().map_or(Ok(()), |what| Err(AirError::Mac(what)))?;
    }
    check_channels(config)?;
    if let Some(what) = config.energy.as_ref().and_then(EnergyConfig::fault) {
        return Err(AirError::Energy(what));
    }
    // Each host has one frame on the air at most, and one more that has not ended everywhere.
    if hosts.len() > MAX_NUMBERS / 2 {
        return Err(AirError::Radio("more hosts than there are numbers for: 8388608"));
    }
    check_roles(config, hosts)
}

/// Whether channels of other kinds are named once, and have in common what all radios of an air must.
fn check_channels(config: &AirConfig) -> Result<(), AirError> {
    let common = |mac: &MacConfig| (mac.duty_cycle, mac.address_resolution);
    for (place, own) in config.channels.iter().enumerate() {
        let named_before = config.channels[..place].iter().any(|other| other.channel == own.channel);
        if own.channel == NO_CHANNEL || named_before || config.channels.len() >= usize::from(u8::MAX) {
            return Err(AirError::Radio("a channel of another kind is 0, or named twice"));
        }
        if own.radio.propagation_delay != config.radio.propagation_delay {
            return Err(AirError::Radio("frames take longer on one channel than on another"));
        }
        if common(&own.mac) != common(&config.mac) {
            return Err(AirError::Mac("radios sleep or resolve addresses differently on one channel"));
        }
    }
    Ok(())
}

/// Whether the hosts' roles fit the medium access, and one another.
fn check_roles(config: &AirConfig, hosts: &[HostConfig]) -> Result<(), AirError> {
    let refused = |host: &HostConfig, what| Err(AirError::Role { host: host.name.clone(), what });
    for host in hosts {
        match (&host.role, &config.mac_on(host.channel).coordination) {
            (Role::Station, _)
            | (Role::SlotOwner(_), Coordination::Slots(_))
            | (Role::AccessPoint(_), Coordination::Polling(_)) => {}
            (Role::SlotOwner(_), _) => return refused(host, "there are no slots to own"),
            (Role::AccessPoint(_), _) => return refused(host, "there are no contention-free periods"),
        }
    }
    let own = config.channels.iter().map(|own| &own.mac);
    for mac in core::iter::once(&config.mac).chain(own) {
        match mac.coordination {
            Coordination::Distributed => {}
            Coordination::Slots(slots) => {
                let fault = slots.fault(config.radio.propagation_delay);
                fault.map_or(Ok(()), |what| Err(AirError::Mac(what)))?;
                check_slots(config, &slots, hosts)?;
            }
            Coordination::Polling(_) => check_polling(hosts)?,
        }
    }
    Ok(())
}

/// Whether each slot is there and has one owner on each channel.
fn check_slots(config: &AirConfig, slots: &SlotConfig, hosts: &[HostConfig]) -> Result<(), AirError> {
    let mut owned = BTreeSet::new();
    let in_these =
        |host: &&HostConfig| config.mac_on(host.channel).coordination == Coordination::Slots(*slots);
    for host in hosts.iter().filter(in_these) {
        let Role::SlotOwner(numbers) = &host.role else { continue };
        for number in numbers {
            let what = match owned.insert((host.channel, *number)) {
                _ if *number >= slots.slots => "the frame has no such slot",
                false => "one of its slots is another host's, or named twice",
                true => continue,
            };
            return Err(AirError::Role { host: host.name.clone(), what });
        }
    }
    Ok(())
}

/// The channels on which slots or an access point say who sends. On others hosts contend.
pub(super) fn coordinated_channels(config: &AirConfig, hosts: &[HostConfig]) -> BTreeSet<u8> {
    let coordinates = |host: &&HostConfig| {
        matches!(
            (&host.role, config.mac_on(host.channel).coordination),
            (Role::SlotOwner(_), Coordination::Slots(_)) | (Role::AccessPoint(_), Coordination::Polling(_))
        )
    };
    hosts.iter().filter(coordinates).map(|host| host.channel).collect()
}

/// Whether no channel has two access points, each of which polls others on its own.
fn check_polling(hosts: &[HostConfig]) -> Result<(), AirError> {
    let mut channels = BTreeSet::new();
    for (index, host) in hosts.iter().enumerate() {
        let Role::AccessPoint(list) = &host.role else { continue };
        let polls = |station: &HostId| {
            let known = hosts.get(station.0 as usize).is_some_and(|other| other.channel == host.channel);
            known && station.0 as usize != index
        };
        let what = match channels.insert(host.channel) {
            false => "its channel has another access point",
            true if !list.iter().all(polls) => "it polls itself, or a host that is not on its channel",
            true => continue,
        };
        return Err(AirError::Role { host: host.name.clone(), what });
    }
    let alone = hosts.first().filter(|_| channels.is_empty());
    let what = "there is no access point on any channel";
    alone.map_or(Ok(()), |host| Err(AirError::Role { host: host.name.clone(), what }))
}
