//! What the system tells of its batteries, in the folder that Linux has for it.
use prismux_sharing::Power;
use prismux_units::{Duration, Instant};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// Where Linux tells of them.
const SUPPLIES: &str = "/sys/class/power_supply";

/// Time between two looks. Some batteries take a while to answer, so that a thread of its own asks.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// The batteries of this host.
#[derive(Debug)]
pub(crate) struct Supplies {
    folder: PathBuf,
    power: Option<Power>,
    reading: Option<JoinHandle<Option<Power>>>,
    next_look: Instant,
}

impl Supplies {
    /// Those of a folder, by default the system's.
    pub fn open(folder: Option<&Path>) -> Self {
        let folder = folder.unwrap_or(Path::new(SUPPLIES)).to_owned();
        let power = read(&folder);
        if power.is_none() {
            tracing::warn!(folder = %folder.display(), "this host tells of no battery: battery_floor has no effect");
        }
        Self { folder, power, reading: None, next_look: Instant::ZERO }
    }

    /// What they were like when somebody looked last; `None` without a battery.
    pub fn power(&mut self, now: Instant) -> Option<Power> {
        if let Some(reading) = self.reading.take_if(|reading| reading.is_finished()) {
            self.power = reading.join().unwrap_or(self.power);
        }
        if self.reading.is_none() && now >= self.next_look {
            self.next_look = now + LOOK_INTERVAL;
            let folder = self.folder.clone();
            let look = std::thread::Builder::new().name("battery".to_owned()).spawn(move || read(&folder));
            self.reading = look.ok();
        }
        self.power
    }
}

/// The mean charge of a host's own batteries, and whether anything else feeds it.
fn read(folder: &Path) -> Option<Power> {
    let (mut percents, mut is_on_mains) = (Vec::new(), false);
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let text = |name: &str| fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let is = |name: &str, value: &str| text(name).trim() == value;
        if !is("type", "Battery") {
            is_on_mains |= is("online", "1");
        } else if !is("scope", "Device") {
            // Those of a mouse or a keyboard are not the host's.
            percents.extend(text("capacity").trim().parse::<u32>().ok().filter(|percent| *percent <= 100));
        }
    }
    let count = u32::try_from(percents.len()).ok()?;
    let mean = percents.iter().sum::<u32>().checked_div(count)?;
    Some(Power { percent: u8::try_from(mean).ok()?, is_on_mains })
}

#[cfg(test)]
mod tests {
    use super::{Power, read};
    use std::fs;

    #[test]
    fn batteries_of_the_host_count_and_those_of_its_mouse_do_not() {
        let folder = std::env::temp_dir().join(format!("prismux-supplies-{}", std::process::id()));
        let supply = |name: &str, files: &[(&str, &str)]| {
            fs::create_dir_all(folder.join(name)).unwrap();
            files.iter().for_each(|(file, text)| fs::write(folder.join(name).join(file), text).unwrap());
        };
        assert_eq!(read(&folder), None);
        supply("AC", &[("type", "Mains\n"), ("online", "0\n")]);
        supply("mouse", &[("type", "Battery\n"), ("scope", "Device\n"), ("capacity", "1\n")]);
        assert_eq!(read(&folder), None, "a host without a battery");
        supply("BAT0", &[("type", "Battery\n"), ("capacity", "20\n")]);
        supply("BAT1", &[("type", "Battery\n"), ("capacity", "60\n")]);
        assert_eq!(read(&folder), Some(Power { percent: 40, is_on_mains: false }));
        supply("AC", &[("online", "1\n")]);
        assert_eq!(read(&folder), Some(Power { percent: 40, is_on_mains: true }));
        fs::remove_dir_all(folder).unwrap();
    }
}
