//! Radio media: hosts on one air, and how they find their way over one another.
use crate::{LinkId, NodeId};
use alloc::format;
use alloc::vec::Vec;
use prismux_aodv::AodvConfig;
use prismux_dsdv::DsdvConfig;
use prismux_dsr::DsrConfig;
use prismux_wireless::{
    AirConfig, AssociationConfig, ChannelConfig, Coordination, EnergyConfig, HostConfig, HostId, MacConfig,
    Mobility, RadioConfig, Role,
};

/// Hosts that share the air.
#[derive(Debug, Clone, PartialEq)]
pub struct Radio {
    /// The radio of all of them, but for those on channels of another kind.
    pub radio: RadioConfig,
    /// Their medium access.
    pub mac: MacConfig,
    /// Channels on which radios are of another kind.
    pub channel_settings: Vec<ChannelConfig>,
    /// How each moves, in the order in which they are attached.
    pub mobility: Vec<Mobility>,
    /// What the first radio of each is to the medium access, in the same order; all are stations where this is empty.
    /// Radios are numbered by the places of their hosts, then further ones in their order.
    pub roles: Vec<Role>,
    /// The channel of the first radio of each, in the same order; all are on channel 1 where this is empty.
    pub channels: Vec<u8>,
    /// Further radios of hosts that have several.
    pub further_radios: Vec<FurtherRadio>,
    /// Who finds routes.
    pub routing: Routing,
    /// Whether the hops of each packet that arrives are held against the fewest that were possible then.
    pub compares_hops: bool,
    /// What radios draw, and from which batteries; `None` where energy is not counted.
    pub power: Option<Power>,
    /// Base stations between which the others hand over; `None` where all are equals.
    pub cells: Option<Cells>,
}

/// A radio of a host beside its first one. What a host sends to a neighbour goes by the first of its radios, in the
/// order of the plan, that shares a channel with one of the neighbour's; what it sends to all goes by each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FurtherRadio {
    /// The host, by its place among those that are attached.
    pub host: usize,
    /// The channel.
    pub channel: u8,
    /// What it is to the medium access.
    pub role: Role,
}

impl FurtherRadio {
    /// A station like others.
    pub const fn new(host: usize, channel: u8) -> Self {
        Self { host, channel, role: Role::Station }
    }
}

impl Radio {
    /// An air of equals with one radio each, all on channel 1, whose energy is not counted.
    pub fn new(radio: RadioConfig, mac: MacConfig, mobility: Vec<Mobility>, routing: Routing) -> Self {
        Self {
            radio,
            mac,
            channel_settings: Vec::new(),
            mobility,
            roles: Vec::new(),
            channels: Vec::new(),
            further_radios: Vec::new(),
            routing,
            compares_hops: false,
            power: None,
            cells: None,
        }
    }

    /// What the air is made of.
    pub fn air_config(&self) -> AirConfig {
        let energy = self.power.as_ref().map(|power| power.energy);
        let channels = self.channel_settings.clone();
        AirConfig { radio: self.radio, mac: self.mac, channels, energy, reports_frames: false }
    }

    /// The radios on the air called `air`: the first ones of the hosts with these names, in the order in which they are
    /// attached, then the further ones.
    pub fn host_configs<'a>(&self, air: &str, hosts: impl Iterator<Item = &'a str>) -> Vec<HostConfig> {
        let host = |(index, (name, mobility)): (usize, (&str, &Mobility))| HostConfig {
            channel: self.channels.get(index).copied().unwrap_or(1),
            battery_j: self.power.as_ref().and_then(|power| *power.batteries_j.get(index)?),
            // Only source routes tell bystanders anything.
            listens_to_all: self.cells.is_none() && matches!(self.routing, Routing::Dsr(_)),
            role: self.roles.get(index).cloned().unwrap_or_default(),
            ..HostConfig::new(format!("{air}/{name}"), mobility.clone())
        };
        let mut radios: Vec<HostConfig> = hosts.zip(&self.mobility).enumerate().map(host).collect();
        for further in &self.further_radios {
            let Some(first) = radios.get(further.host) else { continue };
            radios.push(HostConfig {
                name: format!("{}/{}", first.name, further.channel),
                rides_with: Some(HostId(further.host as u32)),
                channel: further.channel,
                role: further.role.clone(),
                // It draws on that of the first.
                battery_j: None,
                listens_to_all: matches!(self.routing, Routing::Dsr(_)),
                ..first.clone()
            });
        }
        radios
    }

    /// The radio of those on a channel.
    pub fn radio_on(&self, channel: u8) -> &RadioConfig {
        self.settings_of(channel).map_or(&self.radio, |own| &own.radio)
    }

    /// The medium access on a channel.
    pub fn mac_on(&self, channel: u8) -> &MacConfig {
        self.settings_of(channel).map_or(&self.mac, |own| &own.mac)
    }

    fn settings_of(&self, channel: u8) -> Option<&ChannelConfig> {
        self.channel_settings.iter().find(|own| own.channel == channel)
    }

    /// How far the kinds of radios reach in the mean, in metres: that of most channels, then those of single ones.
    pub fn ranges_m(&self) -> impl Iterator<Item = f64> + '_ {
        let own = self.channel_settings.iter().map(|own| &own.radio);
        core::iter::once(&self.radio).chain(own).map(RadioConfig::range_m)
    }

    /// Whether hosts contend for the medium on all channels: nobody polls, and nobody owns slots.
    pub fn contends(&self) -> bool {
        let own = self.channel_settings.iter().map(|own| &own.mac);
        let mut all = core::iter::once(&self.mac).chain(own);
        all.all(|mac| mac.coordination == Coordination::Distributed)
    }

    /// Whether its hosts are all alike and relay for one another: each has a routing protocol of its own.
    pub fn has_routers(&self) -> bool {
        self.routing != Routing::Direct && self.cells.is_none()
    }

    /// Whether hosts relay for those that hear no base station, on an air with these nodes.
    pub fn relays_beside_cells(&self, attached: &[NodeId]) -> bool {
        self.routing != Routing::Direct && self.has_second_radios_of_stations(attached)
    }

    /// Whether a host that hands over between base stations has a further radio, on an air with these nodes.
    pub fn has_second_radios_of_stations(&self, attached: &[NodeId]) -> bool {
        let Some(cells) = &self.cells else { return false };
        let node = |further: &FurtherRadio| attached.get(further.host);
        let is_station = |node: &NodeId| !cells.base_stations.contains(node);
        self.further_radios.iter().filter_map(node).any(is_station)
    }

    /// The numbers of a host's radios, by its place among those that are attached: its first one, then the others.
    pub fn radios_of(&self, host: usize) -> impl Iterator<Item = HostId> + '_ {
        let numbered = (self.mobility.len()..).zip(&self.further_radios);
        let further = numbered.filter(move |(_, radio)| radio.host == host).map(|(number, _)| number);
        core::iter::once(host).chain(further).map(|number| HostId(number as u32))
    }

    /// The channels of a host, by its place among those that are attached: that of its first radio, then the others.
    pub fn channels_of(&self, host: usize) -> impl Iterator<Item = u8> + '_ {
        let first = self.channels.get(host).copied().unwrap_or(1);
        let further = self.further_radios.iter().filter(move |radio| radio.host == host);
        core::iter::once(first).chain(further.map(|radio| radio.channel))
    }

    /// Whether packets can get from one host to another by channels that hosts share, wherever they are: over others
    /// too, where somebody routes.
    pub fn joins_by_channels(&self, from: usize, to: usize) -> bool {
        let hosts: Vec<Vec<u8>> =
            (0..self.mobility.len()).map(|host| self.channels_of(host).collect()).collect();
        let [Some(start), Some(end)] = [hosts.get(from), hosts.get(to)] else { return false };
        let mut joined = start.clone();
        let mut before = 0;
        while self.routing != Routing::Direct && joined.len() > before {
            before = joined.len();
            for own in &hosts {
                if own.iter().any(|channel| joined.contains(channel)) {
                    let new = own.iter().copied().filter(|channel| !joined.contains(channel));
                    let new: Vec<u8> = new.collect();
                    joined.extend(new);
                }
            }
        }
        end.iter().any(|channel| joined.contains(channel))
    }
}

/// Base stations, and the stations that belong to one of them at a time: all others on the air. What stations send and
/// receive goes over their base station, which forwards between the air and its wires. Of a base station with several
/// radios a station belongs to one, and hands over between them as between base stations.
///
/// A station with a further radio relays by it: one that hears no base station sends and receives over another that
/// does, to which the routing protocol finds the way over the further radios.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    /// The base stations, in order.
    pub base_stations: Vec<NodeId>,
    /// When a station changes to another one.
    pub association: AssociationConfig,
    /// Whether a base station sends what it still has for a station that has left after it, by wire; else it is lost.
    pub forwards: bool,
    /// The link that a station uses where it hears no base station, for those that have one.
    pub fallback: Vec<(NodeId, LinkId)>,
    /// A station that hears its base station by less than this above what suffices, in decibels, goes over one that
    /// does not, if it can; `None` where only those do that hear none.
    pub relays_below_db: Option<f64>,
}

impl Cells {
    /// The link that `station` uses where it hears no base station.
    pub fn fallback_of(&self, station: NodeId) -> Option<LinkId> {
        self.fallback.iter().find(|(node, _)| *node == station).map(|(_, link)| *link)
    }

    /// The radios of all base stations, on an air with these nodes: those of the first one, of the second one, and so
    /// on.
    pub fn radios(&self, attached: &[NodeId], radio: &Radio) -> Vec<CellRadio> {
        let of_base = |base: &NodeId| {
            let place = attached.iter().position(|other| other == base)?;
            let radios = radio.radios_of(place).zip(radio.channels_of(place));
            let base = *base;
            Some(radios.map(move |(number, channel)| CellRadio { base, number, channel }).collect::<Vec<_>>())
        };
        self.base_stations.iter().filter_map(of_base).flatten().collect()
    }
}

/// A radio of a base station: what a station belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRadio {
    /// The base station.
    pub base: NodeId,
    /// The number of its radio on the air.
    pub number: HostId,
    /// The channel.
    pub channel: u8,
}

/// What radios draw, and from which batteries.
#[derive(Debug, Clone, PartialEq)]
pub struct Power {
    /// What each radio draws.
    pub energy: EnergyConfig,
    /// What each host's battery holds, in joules, in the order in which hosts are attached; `None` for one that needs
    /// none.
    pub batteries_j: Vec<Option<f64>>,
}

/// How packets find their way from host to host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Routing {
    /// Not at all: every packet is for a neighbour.
    Direct,
    /// Dynamic Source Routing.
    Dsr(DsrConfig),
    /// Ad hoc On-Demand Distance Vector routing.
    Aodv(AodvConfig),
    /// Destination-Sequenced Distance Vector routing.
    Dsdv(DsdvConfig),
}

impl Routing {
    /// Whether the packets that wait for a neighbour which no longer answers are taken back: not where the word of the
    /// MAC layer counts for nothing.
    pub const fn takes_back(&self) -> bool {
        match self {
            Self::Dsdv(config) => config.link_layer_feedback,
            Self::Direct | Self::Dsr(_) | Self::Aodv(_) => true,
        }
    }
}
