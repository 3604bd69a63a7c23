//! A cgroup for this process alone.
use std::fs;
use std::path::{Path, PathBuf};

/// The cgroup; the process leaves it when this is dropped, and it goes.
pub struct Cgroup {
    folder: PathBuf,
    before: PathBuf,
}

impl Cgroup {
    /// `None` where there are none of version 2, or this process may not make one.
    pub fn enter() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let root = mounts.lines().find_map(|line| {
            let mut fields = line.split(' ').skip(1);
            let folder = fields.next()?;
            (fields.next()? == "cgroup2").then(|| PathBuf::from(folder))
        })?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let before = root.join(own);
        let folder = root.join(format!("prismux-test-{}", std::process::id()));
        fs::create_dir_all(&folder).ok()?;
        let cgroup = Self { folder, before };
        fs::write(cgroup.folder.join("cgroup.procs"), std::process::id().to_string()).ok()?;
        Some(cgroup)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::write(self.before.join("cgroup.procs"), std::process::id().to_string());
        let _ = fs::remove_dir(&self.folder);
    }
}
