//! What befalls members and their links, from a seed.
use super::network::{Community, MEMBERS, UPLINKS};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::LinkChange;
use prismux_plan::{Action, Directions};
use prismux_simulator::Simulation;
use prismux_units::Rate;

/// Seconds from one fault of a link to the next, in the mean.
const EVERY_S: f64 = 3.0 * 3600.0;
/// No more members are without their link at a time.
const OUT_AT_MOST: usize = MEMBERS / 2;
/// Rates that a link falls to and rises to, of that in good times.
const RATES: (f64, f64) = (0.3, 1.3);

/// How a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// Nothing passes in either direction, and nobody has said so.
    Silent,
    /// The member has left.
    Away,
    /// Another rate.
    Changed,
}

/// One link and its member.
#[derive(Debug)]
struct Fate {
    random: RandomStream,
    state: State,
    rate: Rate,
    /// When that ends, in seconds of the run.
    until_s: f64,
}

/// The fates of all links.
#[derive(Debug)]
pub(super) struct Faults(Vec<Fate>);

impl Faults {
    pub fn new(seed: Seed) -> Self {
        let fate = |index: usize| {
            let mut random = seed.stream(&format!("week/faults/{index}"));
            let until_s = random.exponential(EVERY_S);
            Fate { random, state: State::Good, rate: UPLINKS[index].rate, until_s }
        };
        Self((0..MEMBERS).map(fate).collect())
    }

    /// What has been due until this second happens now.
    pub fn pass(&mut self, simulation: &mut Simulation, community: &Community, second: u64) {
        for (index, uplink) in UPLINKS.iter().enumerate() {
            if self.0[index].until_s > second as f64 {
                continue;
            }
            let out = (0..MEMBERS).filter(|&index| !self.is_usable(index)).count();
            let action = self.0[index].turn(second as f64, out < OUT_AT_MOST, uplink.rate);
            let (link, member) = (community.uplinks[index], community.members[index]);
            match action {
                Turn::Nothing => {}
                Turn::Up(up) => {
                    let change = if up { LinkChange::UP } else { LinkChange::DOWN };
                    simulation.act(Action::both_ways(link, change));
                }
                Turn::Joined(true) => simulation.act(Action::Join(member)),
                Turn::Joined(false) => simulation.act(Action::Leave(member)),
                Turn::Rate(rate) => {
                    let (directions, change) = (Directions::Forward, LinkChange::rate(rate));
                    simulation.act(Action::ChangeLink { link, directions, change });
                }
            }
        }
    }

    /// Whether the link is there and its member too.
    pub fn is_usable(&self, index: usize) -> bool {
        matches!(self.0[index].state, State::Good | State::Changed)
    }

    /// What the link carries while it is there.
    pub fn rate(&self, index: usize) -> Rate {
        self.0[index].rate
    }
}

/// What a link's fate has in store.
enum Turn {
    Nothing,
    Up(bool),
    Joined(bool),
    Rate(Rate),
}

impl Fate {
    /// The next state, from this second on.
    fn turn(&mut self, second: f64, may_go: bool, good: Rate) -> Turn {
        let old = std::mem::replace(&mut self.state, State::Good);
        let mut stays = EVERY_S;
        let turn = match old {
            State::Silent => Turn::Up(true),
            State::Away => Turn::Joined(true),
            State::Changed => {
                self.rate = good;
                Turn::Rate(good)
            }
            State::Good => {
                let drawn = self.random.uniform();
                if drawn < 0.4 && may_go {
                    (self.state, stays) = (State::Silent, 90.0);
                    Turn::Up(false)
                } else if drawn < 0.6 && may_go {
                    (self.state, stays) = (State::Away, 1200.0);
                    Turn::Joined(false)
                } else if drawn >= 0.6 {
                    (self.state, stays) = (State::Changed, 1800.0);
                    let (least, most) = RATES;
                    self.rate = good.mul_f64(least + (most - least) * self.random.uniform());
                    Turn::Rate(self.rate)
                } else {
                    Turn::Nothing
                }
            }
        };
        self.until_s = second + 1.0 + self.random.exponential(stays);
        turn
    }
}
