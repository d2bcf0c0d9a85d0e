//! The final file system of an image: what is left when every layer has changed what is below it.
//!
//! A pure function of the entries of layers. Nothing is unpacked; links are followed inside the tree only.
//!
//! Format: the OCI image specification, "Image Layer Filesystem Changeset" (`layer.md`). Where it leaves room,
//! what containers/storage, umoci and Docker do alike: a whiteout takes away what lower layers have, wherever it
//! stands in its own layer; the way to a path leads through links of directories, inside the root; what stands at a
//! path is replaced, and only a directory over a directory keeps what is in it.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use super::layer::{Entry, EntryKind, PATH_MAX, clean, split_last};

/// A file, by the layer that brought it and the index of its entry there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FileId {
    pub(super) layer: usize,
    pub(super) entry: usize,
}

/// Links that are followed on one way, as Linux does.
const LINKS_MAX: u32 = 40;

/// Steps on all ways to all files of an image; a million files ten directories deep take a fifth of it.
const STEPS_MAX: u64 = 50_000_000;

/// A place of the tree.
type NodeId = usize;

const ROOT: NodeId = 0;

#[derive(Debug)]
enum Node<'e> {
    Dir(BTreeMap<&'e [u8], NodeId>),
    Symlink(&'e [u8]),
    File(FileId),
    Other,
}

/// Why there is no place for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoWay {
    /// Something on the way is missing.
    Missing,
    /// Links lead in a circle.
    Loop,
    /// The tree is too large.
    Full,
}

/// Something that a runtime could not unpack as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stuck {
    pub(super) file: FileId,
    pub(super) why: &'static str,
}

/// The final file system of an image.
#[derive(Debug)]
pub(super) struct Squashed<'e> {
    nodes: Vec<Node<'e>>,
    nodes_max: usize,
    /// Steps on ways that may still be made: links can lead anywhere and back.
    steps: Cell<u64>,
    layer: usize,
    /// Files that a layer took away or replaced, and which layer did.
    gone: HashMap<FileId, usize>,
    /// What could not be unpacked.
    pub(super) stuck: Vec<Stuck>,
}

/// Puts layers on each other, the lowest first. A tree of more than `nodes_max` files and directories is
/// reported and not finished.
pub(super) fn squash<'e>(
    layers: impl IntoIterator<Item = &'e [Entry]>,
    nodes_max: usize,
) -> Squashed<'e> {
    let mut tree = Squashed {
        nodes: vec![Node::Dir(BTreeMap::new())],
        nodes_max,
        steps: Cell::new(STEPS_MAX),
        layer: 0,
        gone: HashMap::new(),
        stuck: Vec::new(),
    };
    for (layer, entries) in layers.into_iter().enumerate() {
        tree.layer = layer;
        // first what is taken away from the layers below, since the order in a layer says nothing
        for entry in entries {
            tree.take_away(entry);
        }
        for (index, entry) in entries.iter().enumerate() {
            let file = FileId {
                layer,
                entry: index,
            };
            match tree.put(entry, file) {
                Ok(()) => {}
                Err(NoWay::Full) => {
                    tree.stick(
                        file,
                        "the image has more files, or longer ways to them, than a run may look at",
                    );
                    return tree;
                }
                Err(NoWay::Loop) => tree.stick(file, "the links on its way lead in a circle"),
                Err(NoWay::Missing) => {
                    tree.stick(file, "the file that it is another name of is not there");
                }
            }
        }
    }
    tree
}

impl<'e> Squashed<'e> {
    /// The paths of each file that is there and `wanted`, sorted.
    pub(super) fn visible(
        &self,
        wanted: impl Fn(FileId) -> bool,
    ) -> BTreeMap<FileId, Vec<Box<[u8]>>> {
        let mut found: BTreeMap<FileId, Vec<Box<[u8]>>> = BTreeMap::new();
        self.each(|node, path| match node {
            Node::File(file) if wanted(*file) => {
                found.entry(*file).or_default().push(path.into());
            }
            _ => {}
        });
        for paths in found.values_mut() {
            paths.sort_unstable();
        }
        found
    }

    /// The paths of links that are there and `wanted`, and lead to a file, sorted.
    pub(super) fn links_to_files(&self, wanted: impl Fn(&[u8]) -> bool) -> Vec<Box<[u8]>> {
        let mut found: Vec<Box<[u8]>> = Vec::new();
        self.each(|node, path| {
            if matches!(node, Node::Symlink(_)) && wanted(path) && self.leads_to_file(path) {
                found.push(path.into());
            }
        });
        found.sort_unstable();
        found
    }

    /// Shows everything below the root to `see`, with its path.
    fn each(&self, mut see: impl FnMut(&Node<'e>, &[u8])) {
        // each with its name, and with the bytes of the path that its directory takes
        let mut pending: Vec<(NodeId, &[u8], usize)> = vec![(ROOT, b"", 0)];
        let mut path: Vec<u8> = Vec::new();
        while let Some((node, name, parent)) = pending.pop() {
            path.truncate(parent);
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name);
            let Some(node) = self.nodes.get(node) else {
                continue;
            };
            if let Node::Dir(children) = node {
                let here = path.len();
                pending.extend(children.iter().map(|(name, child)| (*child, *name, here)));
            }
            see(node, &path);
        }
    }

    /// Whether a file is at the end of the way of `path`; where that would take too long to tell, it is.
    fn leads_to_file(&self, path: &[u8]) -> bool {
        let mut way = Way::new(path);
        while let Some(name) = way.next() {
            if self.step().is_err() {
                return true;
            }
            let Some(child) = self.child(way.dir(), name) else {
                return false;
            };
            match self.nodes.get(child) {
                Some(Node::Dir(_)) => way.enter(child, name),
                Some(Node::Symlink(target)) => {
                    if way.follow(target).is_err() {
                        return false;
                    }
                }
                Some(Node::File(_)) => return way.next().is_none(),
                Some(Node::Other) | None => return false,
            }
        }
        false
    }

    /// The layer that took a file away.
    pub(super) fn gone_by(&self, file: FileId) -> Option<usize> {
        self.gone.get(&file).copied()
    }

    /// The path that leads to the same place without links.
    pub(super) fn canonical(&self, path: &[u8]) -> Option<Vec<u8>> {
        let path = clean(path)?;
        let (parent, name) = split_last(&path);
        let way = self.find(parent).ok()?;
        let mut parts: Vec<&[u8]> = way.iter().skip(1).map(|(_, name)| *name).collect();
        parts.push(name);
        Some(parts.join(&b'/'))
    }

    fn stick(&mut self, file: FileId, why: &'static str) {
        self.stuck.push(Stuck { file, why });
    }

    fn take_away(&mut self, entry: &'e Entry) {
        match entry.kind {
            EntryKind::Whiteout => {
                let (parent, name) = split_last(&entry.path);
                let Some(dir) = self.find(parent).ok().and_then(|way| last(&way)) else {
                    return;
                };
                if let Some(Node::Dir(children)) = self.nodes.get_mut(dir)
                    && let Some(node) = children.remove(name)
                {
                    self.drop_tree(node);
                }
            }
            EntryKind::Opaque => {
                let Some(dir) = self.find(&entry.path).ok().and_then(|way| last(&way)) else {
                    return;
                };
                if let Some(Node::Dir(children)) = self.nodes.get_mut(dir) {
                    let children = std::mem::take(children);
                    for node in children.into_values() {
                        self.drop_tree(node);
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes that the files below `node` are gone. Its place was taken already.
    fn drop_tree(&mut self, node: NodeId) {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            match self
                .nodes
                .get_mut(node)
                .map(|node| std::mem::replace(node, Node::Other))
            {
                Some(Node::Dir(children)) => pending.extend(children.into_values()),
                Some(Node::File(file)) => {
                    self.gone.insert(file, self.layer);
                }
                _ => {}
            }
        }
    }

    fn put(&mut self, entry: &'e Entry, file: FileId) -> Result<(), NoWay> {
        let node = match &entry.kind {
            EntryKind::Whiteout => return Ok(()),
            EntryKind::Opaque => {
                self.make(&entry.path)?;
                return Ok(());
            }
            EntryKind::Dir if entry.path.is_empty() => return Ok(()),
            EntryKind::Dir => None,
            EntryKind::File => Some(Node::File(file)),
            EntryKind::Special => Some(Node::Other),
            EntryKind::Symlink(target) => Some(Node::Symlink(target)),
            EntryKind::HardLink(target) => Some(self.linked(target)?),
        };
        let (parent, name) = split_last(&entry.path);
        let dir = self.make(parent)?;
        let before = self.child(dir, name);
        let Some(node) = node else {
            if !before.is_some_and(|node| matches!(self.nodes.get(node), Some(Node::Dir(_)))) {
                self.place(dir, name, Node::Dir(BTreeMap::new()))?;
            }
            return Ok(());
        };
        self.place(dir, name, node).map(drop)
    }

    /// Another node for what stands at a path, which is not followed where it is a link itself.
    fn linked(&self, target: &[u8]) -> Result<Node<'e>, NoWay> {
        let (parent, name) = split_last(target);
        let way = self.find(parent)?;
        let node = last(&way).and_then(|dir| self.child(dir, name));
        match node.and_then(|node| self.nodes.get(node)) {
            Some(Node::File(file)) => Ok(Node::File(*file)),
            Some(Node::Symlink(target)) => Ok(Node::Symlink(target)),
            Some(Node::Other) => Ok(Node::Other),
            Some(Node::Dir(_)) | None => Err(NoWay::Missing),
        }
    }

    fn step(&self) -> Result<(), NoWay> {
        let left = self.steps.get().checked_sub(1).ok_or(NoWay::Full)?;
        self.steps.set(left);
        Ok(())
    }

    fn child(&self, dir: NodeId, name: &[u8]) -> Option<NodeId> {
        match self.nodes.get(dir) {
            Some(Node::Dir(children)) => children.get(name).copied(),
            _ => None,
        }
    }

    /// Puts a node into a directory, in place of what has its name.
    fn place(&mut self, dir: NodeId, name: &'e [u8], node: Node<'e>) -> Result<NodeId, NoWay> {
        let id = self.nodes.len();
        if id >= self.nodes_max {
            return Err(NoWay::Full);
        }
        self.nodes.push(node);
        let before = match self.nodes.get_mut(dir) {
            Some(Node::Dir(children)) => children.insert(name, id),
            _ => None,
        };
        if let Some(before) = before {
            self.drop_tree(before);
        }
        Ok(id)
    }

    /// The directory at a path; what is missing of it is made.
    fn make(&mut self, path: &'e [u8]) -> Result<NodeId, NoWay> {
        let mut way = Way::new(path);
        while let Some(name) = way.next() {
            let dir = way.dir();
            self.step()?;
            let child = self.child(dir, name);
            let child = match child.and_then(|node| Some((node, self.nodes.get(node)?))) {
                Some((node, Node::Dir(_))) => node,
                Some((_, Node::Symlink(target))) => {
                    way.follow(target)?;
                    continue;
                }
                _ => self.place(dir, name, Node::Dir(BTreeMap::new()))?,
            };
            way.enter(child, name);
        }
        Ok(way.dir())
    }

    /// The directories on the way to the one at `path`, the root first.
    fn find<'p>(&'p self, path: &'p [u8]) -> Result<Passed<'p>, NoWay> {
        let mut way = Way::new(path);
        while let Some(name) = way.next() {
            self.step()?;
            let child = self.child(way.dir(), name).ok_or(NoWay::Missing)?;
            match self.nodes.get(child) {
                Some(Node::Dir(_)) => way.enter(child, name),
                Some(Node::Symlink(target)) => way.follow(target)?,
                _ => return Err(NoWay::Missing),
            }
        }
        Ok(way.passed)
    }
}

fn last(way: &Passed<'_>) -> Option<NodeId> {
    way.last().map(|(node, _)| *node)
}

/// Directories on a way, each with its name, the root first.
type Passed<'p> = Vec<(NodeId, &'p [u8])>;

/// A way through the tree.
struct Way<'p> {
    passed: Passed<'p>,
    /// Names that are still to be entered, the next one last.
    ahead: Vec<&'p [u8]>,
    links: u32,
}

impl<'p> Way<'p> {
    fn new(path: &'p [u8]) -> Self {
        let mut way = Self {
            passed: vec![(ROOT, b"")],
            ahead: Vec::new(),
            links: 0,
        };
        way.add(path);
        way
    }

    fn add(&mut self, path: &'p [u8]) {
        self.ahead.extend(path.split(|byte| *byte == b'/').rev());
    }

    fn dir(&self) -> NodeId {
        last(&self.passed).unwrap_or(ROOT)
    }

    fn next(&mut self) -> Option<&'p [u8]> {
        loop {
            let name = self.ahead.pop()?;
            match name {
                b".." if self.passed.len() > 1 => {
                    self.passed.pop();
                }
                b"" | b"." | b".." => {}
                _ => return Some(name),
            }
        }
    }

    fn enter(&mut self, node: NodeId, name: &'p [u8]) {
        self.passed.push((node, name));
    }

    fn follow(&mut self, target: &'p [u8]) -> Result<(), NoWay> {
        self.links += 1;
        if self.links > LINKS_MAX || target.len() > PATH_MAX {
            return Err(NoWay::Loop);
        }
        if target.starts_with(b"/") {
            self.passed.truncate(1);
        }
        self.add(target);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
