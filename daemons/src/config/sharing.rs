//! What the owner of a link allows, in files.
use super::text;
use prismux_sharing::{BatteryFloor, Hours, ResetDay, Terms};
use prismux_units::{ByteCount, Rate};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// With less a link carries little but messages of the daemons.
const MIN_RATE_LIMIT: Rate = Rate::from_kbps(64);

/// The `sharing` table of an uplink, or of a member's file: how much may be carried, and when.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sharing {
    /// Most bytes of a day, both directions and the tunnel's headers together.
    #[serde(deserialize_with = "text::optional")]
    pub cap_per_day: Option<ByteCount>,
    /// Most bytes of a billing month.
    #[serde(deserialize_with = "text::optional")]
    pub cap_per_month: Option<ByteCount>,
    /// Most that may pass in a second in each direction; absent: what the link carries.
    #[serde(deserialize_with = "text::optional")]
    pub rate_limit: Option<Rate>,
    /// The day of the month on which a billing month begins; the first where none is named.
    pub reset_day: Option<u8>,
    /// When the link may be used, such as `["22:00-06:00"]`; absent: always.
    #[serde(deserialize_with = "text::list")]
    pub hours: Vec<Hours>,
    /// A member's battery below which nothing is lent unless something charges it, such as `"30 %"`.
    #[serde(deserialize_with = "text::optional")]
    pub battery_floor: Option<BatteryFloor>,
    /// Where the system tells of batteries, if not where Linux does.
    pub power_supplies: Option<PathBuf>,
}

impl Sharing {
    /// What it says, for accounts.
    pub fn terms(&self) -> Terms {
        Terms {
            cap_per_day: self.cap_per_day,
            cap_per_month: self.cap_per_month,
            reset_day: self.reset_day.and_then(ResetDay::new).unwrap_or_default(),
            hours: self.hours.clone(),
        }
    }

    /// The first thing that makes no sense: the key at fault and what was expected of it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, cap) in [("cap_per_day", self.cap_per_day), ("cap_per_month", self.cap_per_month)] {
            if cap == Some(ByteCount::ZERO) {
                return Err((
                    key,
                    "expected more than nothing; tier = \"never\" switches an uplink off".to_owned(),
                ));
            }
        }
        if self.rate_limit.is_some_and(|rate| rate < MIN_RATE_LIMIT) {
            return Err(("rate_limit", format!("expected at least {MIN_RATE_LIMIT}")));
        }
        match self.reset_day {
            Some(day) if ResetDay::new(day).is_none() => {
                Err(("reset_day", format!("{day} is no day of a month, expected 1 to 31")))
            }
            _ => Ok(()),
        }
    }
}

/// Where a daemon keeps its accounts: in the file that is `named`, else beside its status socket, with `/var/lib` for
/// `/run`, which a restart of the host empties.
pub fn accounts_file(named: Option<&Path>, status_socket: &Path) -> PathBuf {
    let beside = || {
        let file = status_socket.with_extension("accounts");
        match file.strip_prefix("/run") {
            Ok(rest) => Path::new("/var/lib").join(rest),
            Err(_) => file,
        }
    };
    named.map_or_else(beside, Path::to_owned)
}
