#include "app/catalogue/catalogue_world.h"

#include "app/catalogue/places.h"
#include "engine/machine.h"

CatalogueWorld CatalogueWorld::ofThisComputer(const ModelInspector& inspect, const ProfileFolders& folders,
                                              const QString& guide)
{
    return {.inspect = inspect,
            .otherPlaces =
                [fetched = folders.data + QStringLiteral("/models")] {
                    QList<StoreFolder> places = placesOfOtherPrograms(Surroundings::ofThisComputer());
                    places.append({Store::Folder, fetched});  // models that are fetched from no hub go there
                    return places;
                },
            .memory = engine::machine_memory,
            .cacheFile = folders.cache + QStringLiteral("/model-headers.json"),
            .usedFile = folders.state + QStringLiteral("/models-used.json"),
            .guide = guide,
            .draftsFile = folders.state + QStringLiteral("/draft-models.json")};
}
