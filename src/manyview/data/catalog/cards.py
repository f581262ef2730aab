"""The catalog: facts about each data set that are known before its file is opened."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class DatasetCard:
    """Facts about a data set that are known before its file is opened.

    Attributes
    ----------
    name
        Key in `CATALOG`, in lower case.
    title
        Full name.
    paper_name
        Name in the paper; None if the paper does not use it.
    n_samples, n_features, n_classes
        Size; one number of features per view.
    kind
        Kind of samples.
    source
        Origin.
    n_graphs
        Number of views that are precomputed graphs.
    defects
        Known problems that affect results, one sentence each.
    file
        File name in the data folder; None if the views are computed.
    sha256
        Checksum of the file, or of the images for `digits`; None if no copy was available.
    git_blob
        Checksum of the published file by `git hash-object`, where no copy was available.
    in_averages
        Whether results on it count in average ranks and other summaries over data sets.
    read_options
        Options of `read_views` for the file.
    view_names
        Names of the views, if known.
    copies
        Numbers, from 1, of the views to repeat at the end, because the paper uses them twice.
    """

    name: str
    title: str
    paper_name: str | None
    n_samples: int
    n_features: tuple[int, ...]
    n_classes: int
    kind: str
    source: str
    n_graphs: int = 0
    defects: tuple[str, ...] = ()
    file: str | None = None
    sha256: str | None = None
    git_blob: str | None = None
    in_averages: bool = True
    read_options: Mapping[str, Any] = field(default_factory=dict)
    view_names: tuple[str, ...] = ()
    copies: tuple[int, ...] = ()


BBC = "http://mlg.ucd.ie/datasets"
CALTECH = "Caltech101, http://www.vision.caltech.edu/Image_Datasets/Caltech101/Caltech101.html"
CALTECH_SIZES = (48, 40, 254, 1984, 512, 928)
CALTECH_VIEWS = ("gabor", "wavelet moments", "centrist", "hog", "gist", "lbp")
MNIST = "http://yann.lecun.com/exdb/mnist"
MNIST_VIEWS = ("isoprojection", "lda", "lda copy")
MNIST_LEAK = (
    "View 2 (LDA) was fitted with all labels, so it leaks them: every result on it is too good."
)
NUS_WIDE = "https://lms.comp.nus.edu.sg/wp-content/uploads/2019/research/nuswide/NUS-WIDE.html"
NARROW_COUNTS = "Word counts are stored as uint8: cast them before arithmetic."
NO_COPY = (
    "No copy could be opened: its facts are those the paper lists, its checksum that of the "
    "published file."
)
SORTED_ROWS = "Rows are sorted by class: draw samples at random, never the first ones."
RE_EXTRACTED = "All views were extracted again: same samples and sizes, different values."
X_AND_Y = {"views_key": "X", "labels_key": "Y"}

# name, title, name in the paper, samples, features, classes,
# kind, source, file and further facts
# fmt: off
_CARDS = (
    DatasetCard(
        "bbcnews", "BBCnews", "BBCnews", 685, (4659, 4633, 4665, 4684), 5,
        "documents", f"{BBC}/segment.html",
        file="BBCnews.mat", read_options=X_AND_Y, defects=(NARROW_COUNTS,),
        sha256="dc897f133c21d0c1f51977cccfa2d0c5661c257e241e8007c2dbe72cbb02bd00",
    ),
    DatasetCard(
        "bbcsports", "BBCsports", "BBCsports", 544, (3183, 3203), 5,
        "documents", f"{BBC}/bbc.html",
        file="BBCsports.mat", read_options=X_AND_Y,
        sha256="96a802d178a0d776ce904e90edcd1089b6eb94a8b12c91c64488bd03682de089",
    ),
    DatasetCard(
        "mnist", "MNIST, 2,000 digits", "MNIST", 2000, (30, 9, 9), 10,
        "digit images", MNIST,
        file="MNIST.mat", read_options=X_AND_Y, view_names=MNIST_VIEWS,
        sha256="287d2ed050b3fbe591ec0e2effe725d23b0f3a4d5c7c4583f9ddbd8cc60b1b94",
        defects=(
            MNIST_LEAK,
            "View 3 is a copy of view 2; the paper calls it neighborhood preserving embedding.",
        ),
    ),
    DatasetCard(
        "mnist-10k", "MNIST, the first 10,000 training digits", "MNIST-10K",
        10_000, (30, 9, 9), 10,
        "digit images", MNIST,
        file="MNIST-10K.npz", view_names=MNIST_VIEWS, copies=(2,),
        sha256="48490ea085850288c347020360cacfde2cd8a42a021595b29c30122839c1beaa",
        defects=(
            MNIST_LEAK,
            "Rebuilt from the images, not the authors' file; 46 rows of view 1 are estimated.",
            "The file holds views 1 and 2; the paper's view 3 is a copy of view 2.",
        ),
    ),
    DatasetCard(
        "caltech101-7", "Caltech101-7", "Caltech-20", 1474, CALTECH_SIZES, 7,
        "object images", CALTECH,
        file="Caltech101-7.npz", view_names=CALTECH_VIEWS,
        sha256="4105855a3e99e2d012178fb1484e68916340c015793338ebeeba31aa4a498ca0",
        defects=(
            "The paper lists these counts as Caltech-20; its accuracies fit Caltech101-20.",
            "Views 4 (HOG) and 6 (LBP) were extracted again; the others are the originals.",
        ),
    ),
    DatasetCard(
        "caltech101-all", "Caltech101-all", "Caltech-all", 9144, CALTECH_SIZES, 102,
        "object images", CALTECH,
        file="Caltech101-all.npz", view_names=CALTECH_VIEWS,
        sha256="1f23ef02360959f684adbbc0be282a34b45f197014af6dd8be3d57133a2e3559",
        defects=(RE_EXTRACTED, "The paper's table lists 20 classes; there are 102."),
    ),
    DatasetCard(
        "nus-wide", "NUS-WIDE, 8 classes", "NUS-WIDE", 1600, (64, 144, 73, 128, 225, 500), 8,
        "web images", NUS_WIDE,
        file="NUS-WIDE.mat", read_options=X_AND_Y, defects=(NO_COPY,),
        git_blob="008f2eff178183c0357a6e563f62990477d8ac9b",
        view_names=(
            "color histogram", "color correlogram", "edge direction histogram",
            "wavelet texture", "block-wise color moments", "sift bag of words",
        ),
    ),
    DatasetCard(
        "youtube", "Youtube multiview video games, 10 classes", "Youtube",
        2000, (2000, 64, 1024, 512, 64, 647), 10,
        "video data", "http://archive.ics.uci.edu/ml/machine-learning-databases/00269",
        file="Youtube.mat", read_options=X_AND_Y, defects=(NO_COPY,),
        git_blob="c7e100ce4eda3ce5a47f686c33b31540245bc993",
        view_names=(
            "mfcc", "volume stream", "spectrogram stream",
            "cuboids histogram", "motion estimate histogram", "hog",
        ),
    ),
    DatasetCard(
        "caltech101-20", "Caltech101-20", None, 2386, CALTECH_SIZES, 20,
        "object images", CALTECH,
        file="Caltech101-20.npz", view_names=CALTECH_VIEWS,
        sha256="199b32fbbf19d4218461945d031169a68caa7908682d03155e7e4cd6e00218ff",
        defects=(
            RE_EXTRACTED,
            "The paper's accuracies for Caltech-20 fit this set; its counts are Caltech101-7's.",
        ),
    ),
    DatasetCard(
        "3sources", "3Sources", None, 169, (3560, 3631, 3068), 6,
        "documents", f"{BBC}/3sources.html",
        file="3Sources.mat", read_options={"views_key": "X", "labels_key": "y"},
        sha256="8a94f0e554c5782bc87561314f1bad8ca206910125734f4dbe2492956528c9ae",
        defects=(NARROW_COUNTS,),
    ),
    DatasetCard(
        "reuters-1200", "Reuters-1200", None, 1200, (2000, 2000, 2000, 2000, 2000), 6,
        "documents in five languages", "https://archive.ics.uci.edu/dataset/259",
        file="Reuters-1200.mat", read_options={"views_key": "fea", "labels_key": "gt"},
        sha256="af6c83c63dd2428ee1d0b32183aa0f660d17e941eded390da3ad83a7af75439c",
    ),
    DatasetCard(
        "scene-15", "Scene-15", None, 4485, (20, 59, 40), 15,
        "scene images", "Fei-Fei and Perona 2005, Lazebnik et al. 2006",
        file="Scene-15.mat", read_options=X_AND_Y,
        sha256="ec33b5e1f53eea04ccacc8b7bdfc6091ed490b04214eb41fd83c05a0a173221f",
    ),
    DatasetCard(
        "rosmap", "ROSMAP", None, 351, (200, 200, 200), 2,
        "multi-omics of brain tissue", "Religious Orders Study and Memory and Aging Project",
        file="ROSMAP.npz", view_names=("mrna", "methylation", "mirna"),
        sha256="315320fa07a3e14604ef99be197d5e974def7cda9d20ac4c495fb482a659e3c5",
    ),
    DatasetCard(
        "acm3025", "ACM3025", None, 3025, (1870,), 3,
        "papers, with two precomputed graphs",
        "Association for Computing Machinery, as used for heterogeneous graphs",
        n_graphs=2, file="ACM3025.mat", read_options={**X_AND_Y, "graphs_key": "adj"},
        sha256="515ab111458bc5e11edb194596770c9d135f69068fdba1c7c18dde9f392a1ab4",
        defects=("Both graphs contain a self-loop for every sample.",),
    ),
    DatasetCard(
        "nus-wide-graphs", "NUS-WIDE, six neighbor graphs of the paper's samples", None,
        1600, (), 8,
        "web images, as six precomputed graphs", NUS_WIDE,
        n_graphs=6, file="NUS-WIDE-1600-graphs.npz", in_averages=False,
        sha256="bbaaa8a46a6767d26005c12f12bcca34bf1776b14c07cf6f97a02907b77bc1c1",
        defects=(
            "It holds six graphs of ten neighbors and no features.",
            "Labels are inferred from the order of the rows, eight blocks of 200, not stored.",
            "Results on it are not comparable with the paper's, and count in no average.",
        ),
    ),
    DatasetCard(
        "mnist-70k", "MNIST, all 70,000 digits", None, 70_000, (784, 144, 120), 10,
        "digit images", MNIST,
        file="MNIST-70K-3views.npz", view_names=("pixels", "hog", "projections and fourier"),
        sha256="bc3c74be8837c39fae04168fd51ff1a0a9d54424dbe1bc010985923e482e7818",
        defects=(SORTED_ROWS,),
    ),
    DatasetCard(
        "cifar10", "CIFAR-10, four kinds of features", None, 60_000, (64, 144, 144, 236), 10,
        "object images", "https://www.cs.toronto.edu/~kriz/cifar.html",
        file="CIFAR10-4views.npz",
        view_names=("color histogram", "color moments", "hog", "lbp"),
        sha256="0ef21f53aacf834f802bf7944004bb516e667642fffa981d781a2a52de299cc2",
        defects=(
            SORTED_ROWS,
            "Features are computed from images that were encoded again, not from the originals.",
        ),
    ),
    DatasetCard(
        "kdd99", "KDD Cup 1999, the 10 percent subset", None, 494_021, (6, 80, 13, 9, 10), 23,
        "network connections", "https://kdd.ics.uci.edu/databases/kddcup99/kddcup99.html",
        file="KDD99-10pct.npz",
        view_names=("basic", "protocol and service", "content", "time traffic", "host traffic"),
        sha256="0ed3b1f997ae1c4e90909ece825d528e8c53725ef318f796c0324836b8c67399",
        defects=(
            "Only 145,586 of the 494,021 rows are distinct.",
            "Classes are very unequal: the largest has 280,790 samples, the smallest 2.",
        ),
    ),
    DatasetCard(
        "facebook-pages", "Facebook pages and their links", None, 22_470, (4714,), 4,
        "web pages, with one precomputed graph",
        "https://snap.stanford.edu/data/facebook-large-page-page-network.html",
        n_graphs=1, file="FacebookPages.mat", read_options={**X_AND_Y, "graphs_key": "adj"},
        sha256="da5043f0a55a3b4a6ed4919c99b050b24a7d594ddf647fbd1e9bc64a473ebe5f",
    ),
    DatasetCard(
        "digits", "Digits, five views of scikit-learn's images", None,
        1797, (64, 33, 72, 16, 25), 10,
        "digit images", "https://archive.ics.uci.edu/dataset/80, with scikit-learn",
        view_names=("pixels", "fourier", "gradients", "profiles", "moments"),
        sha256="8f26b2bd9d135c256808f68f14fdabddde6d9c7f869ae419704b051f0f14b3b3",
    ),
)
# fmt: on

CATALOG: dict[str, DatasetCard] = {card.name: card for card in _CARDS}
